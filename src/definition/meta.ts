import { messageOf } from '../core/errors.ts'
import { frozenCopy } from '../core/frozen.ts'
import { type Json, toJson } from '../core/text/json.ts'

/** What travels with a job beside its payload, for the program's own use. */
export type Meta = Readonly<Record<string, Json>>

const maxMetaBytes = 16 * 1024

/** Why a value cannot be the meta of a job, or undefined when it can. */
export function metaProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'meta must be an object'
  try {
    toJson(value, { what: 'meta', maxBytes: maxMetaBytes })
    return undefined
  } catch (thrown) {
    return messageOf(thrown)
  }
}

/** As it will be read from the envelope, and no longer the caller's object. */
export function travellingMeta(meta: Meta): Meta {
  return frozenCopy(JSON.parse(JSON.stringify(meta)) as Meta)
}
