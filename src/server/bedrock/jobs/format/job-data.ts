import { isDeepStrictEqual } from 'node:util'
import { writeExact } from '../../../../core/text/exact-json.ts'
import { jsonOf, objectOf, verbatimJsonOf, withMembers } from '../../../../envelope/bedrock-data.ts'
import { Refusal } from '../../wire/refusal.ts'

/** The data of a new job must be an object; the default is an empty one, which has no other spelling. */
export function newData(text: string | undefined): string {
  if (text === undefined || text === '{}') return '{}'
  const object = objectOf(text)
  if (object === null || Object.keys(object).length === 0) throw new Refusal(402, 'Data is not a valid JSON Object')
  return text
}

export function isSameData(a: string, b: string): boolean {
  return a === b || isDeepStrictEqual(jsonOf(a), jsonOf(b))
}

const maxDepth = 100

/** RFC 7396: members of the patch replace existing ones, and null removes them. */
export function merged(text: string, patch: string): string {
  return writeExact(merge(verbatimJsonOf(text), verbatimJsonOf(patch), 0))
}

function merge(target: unknown, patch: unknown, depth: number): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch) || depth > maxDepth) return patch
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target)
  const members = new Map(isObject ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) members.delete(key)
    else members.set(key, merge(members.get(key), value, depth + 1))
  }
  return Object.fromEntries(members)
}

/** Whether the data marks the job as a mock. */
export function isMock(text: string): boolean {
  // Most data does not mention it and need not be parsed.
  if (!text.includes('mockRequest')) return false
  const flag = objectOf(text)?.mockRequest
  return flag !== undefined && flag !== null && flag !== false
}

export function asMock(text: string): string {
  return withMembers(text, { mockRequest: true })
}

export function notMock(text: string): string {
  return isMock(text) ? withMembers(text, { mockRequest: undefined }) : text
}
