import { frozenCopy } from '../core/frozen.ts'
import { toJson } from '../core/text/json.ts'
import type { DefinitionFields } from './fields.ts'

/**
 * Copies the given fields, so that later changes to the caller's objects do not affect the job. Schemas and schedules are shared,
 * not copied. Fields that are undefined are left out.
 */
export function givenValues<Fields extends Changes>(fields: Fields): Fields {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined)
  const copied = said.map(([name, value]) => {
    if (name === 'args') return [name, writtenArgs(value)]
    return [name, isShared.has(name) ? value : frozenCopy(value)]
  })
  return Object.freeze(Object.fromEntries(copied)) as Fields
}

/** Merges changes into the given fields. A change to undefined removes the field. */
export function saidAlso<Said extends object>(said: Said, changes: Changes): Said {
  const { ...all }: Record<string, unknown> = { ...said, ...givenValues(changes) }
  for (const [name, value] of Object.entries(changes)) if (value === undefined) delete all[name]
  return all as Said
}

/** Changes to a definition. */
export type Changes = { readonly [Field in keyof DefinitionFields]?: DefinitionFields[Field] | undefined }

const isShared = new Set<string>(['input', 'output', 'schedule'] satisfies (keyof DefinitionFields)[])

/**
 * A frozen copy, as the handler will read it; independent of the caller's object. Values that cannot be serialized are returned
 * as they are, and rejected when they are used.
 */
export function writtenArgs(args: unknown): unknown {
  if (typeof args !== 'object' || args === null || written.has(args)) return args
  try {
    const copy: object = frozenCopy(JSON.parse(textOf(args)))
    written.add(copy)
    return copy
  } catch {
    return args
  }
}

/** Throws if the value cannot be serialized, which a schedule would notice only when it is due. */
export function checkArgs(args: unknown, job: string): void {
  if (typeof args !== 'object' || args === null || !written.has(args)) textOf(args, `payload that args() gives "${job}"`)
}

function textOf(args: unknown, what = 'args'): string {
  return toJson(args, { what, maxBytes: Number.POSITIVE_INFINITY })
}

/** Copies already made, so that they are not copied again at every step of building a definition. */
const written = new WeakSet<object>()
