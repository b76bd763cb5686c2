import { shown } from '../core/text/shown.ts'

/** Labels to search jobs by: a customer, a release, a topic. */
export type Tags = readonly string[]

const mostTags = 20
const longestTag = 100

/** Returns why these are not valid tags, or undefined if they are valid. */
export function tagsProblem(tags: unknown): string | undefined {
  if (!Array.isArray(tags)) return `tags must be a list of strings, got ${shown(tags)}`
  if (tags.length > mostTags) return `a job has at most ${mostTags} tags, got ${tags.length}`
  const wrong = tags.find((tag) => tagProblem(tag) !== undefined)
  return tags.some((tag) => tagProblem(tag) !== undefined) ? tagProblem(wrong) : undefined
}

export function tagProblem(tag: unknown): string | undefined {
  const isText = typeof tag === 'string' && tag !== '' && tag.length <= longestTag && tag === tag.trim()
  if (isText && !/[\p{Cc}\p{Cs}]/u.test(tag)) return undefined
  return `a tag must be a string of 1 to ${longestTag} characters, without control characters and without spaces around it, got ${shown(tag)}`
}

/** Removes duplicates; keeps the order of first occurrence. */
export function distinctTags(tags: Tags): Tags {
  return Object.freeze([...new Set(tags)])
}
