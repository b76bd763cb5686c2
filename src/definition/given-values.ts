import { frozenCopy } from '../core/frozen.ts'
import { toJson } from '../core/text/json.ts'
import type { DefinitionFields } from './fields.ts'

/**
 * What somebody said of a job, copied when he said it: what he does to his objects afterwards changes no job. Schemas and schedules
 * are what their makers made of them. A field of undefined was not said.
 */
export function givenValues<Fields extends Changes>(fields: Fields): Fields {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined)
  const copied = said.map(([name, value]) => {
    if (name === 'args') return [name, writtenArgs(value)]
    return [name, isShared.has(name) ? value : frozenCopy(value)]
  })
  return Object.freeze(Object.fromEntries(copied)) as Fields
}

/** What was said, and what is said now. A field of undefined takes back what was said of it. */
export function saidAlso<Said extends object>(said: Said, changes: Changes): Said {
  const { ...all }: Record<string, unknown> = { ...said, ...givenValues(changes) }
  for (const [name, value] of Object.entries(changes)) if (value === undefined) delete all[name]
  return all as Said
}

/** What may be said of a job after it was said otherwise. */
export type Changes = { readonly [Field in keyof DefinitionFields]?: DefinitionFields[Field] | undefined }

const isShared = new Set<string>(['input', 'output', 'schedule'] satisfies (keyof DefinitionFields)[])

/** As it will be read by a handler, and no longer the caller's object. What cannot be written is refused by whoever sends it. */
export function writtenArgs(args: unknown): unknown {
  if (typeof args !== 'object' || args === null || written.has(args)) return args
  try {
    const copy: object = frozenCopy(JSON.parse(toJson(args, { what: 'args', maxBytes: Number.POSITIVE_INFINITY })))
    written.add(copy)
    return copy
  } catch {
    return args
  }
}

/** What was written already: a definition is made of many steps. */
const written = new WeakSet<object>()
