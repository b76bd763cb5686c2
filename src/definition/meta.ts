import { messageOf } from '../core/errors.ts'
import { frozenCopy } from '../core/frozen.ts'
import { type Json, toJson } from '../core/text/json.ts'

/** Data that is stored with a job next to its payload, for the program's own use. */
export type Meta = Readonly<Record<string, Json>>

const maxMetaBytes = 16 * 1024

/** Returns why a value is not valid as the meta of a job, or undefined if it is valid. */
export function metaProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'meta must be an object'
  try {
    toJson(value, { what: 'meta', maxBytes: maxMetaBytes })
    return undefined
  } catch (thrown) {
    return messageOf(thrown)
  }
}

/** A frozen copy, as it will be read back from the envelope; independent of the caller's object. */
export function travellingMeta(meta: Meta): Meta {
  return frozenCopy(JSON.parse(JSON.stringify(meta)) as Meta)
}
