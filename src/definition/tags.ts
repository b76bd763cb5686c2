import { shown } from '../core/text/shown.ts'

/** Words that people find jobs by: a customer, a release, what a job is about. */
export type Tags = readonly string[]

export const mostTags = 20
export const longestTag = 100

/** Why these cannot be the tags of a job, or undefined when they can. */
export function tagsProblem(tags: unknown): string | undefined {
  if (!Array.isArray(tags)) return `tags must be a list of texts, got ${shown(tags)}`
  if (tags.length > mostTags) return `a job has at most ${mostTags} tags, got ${tags.length}`
  const wrong = tags.find((tag) => tagProblem(tag) !== undefined)
  return tags.some((tag) => tagProblem(tag) !== undefined) ? tagProblem(wrong) : undefined
}

export function tagProblem(tag: unknown): string | undefined {
  const isText = typeof tag === 'string' && tag !== '' && tag.length <= longestTag && tag === tag.trim()
  if (isText && !/[\p{Cc}\p{Cs}]/u.test(tag)) return undefined
  return `a tag must be a text of 1 to ${longestTag} characters, without control characters and without spaces around it, got ${shown(tag)}`
}

/** Each once, in the order in which they were said first. */
export function distinctTags(tags: Tags): Tags {
  return Object.freeze([...new Set(tags)])
}
