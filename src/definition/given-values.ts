import { frozenCopy } from '../core/frozen.ts'
import { toJson } from '../core/json.ts'
import type { DefinitionFields } from './fields.ts'

/**
 * What somebody said of a job, copied when he said it: what he does to his objects afterwards changes no job. Schemas and schedules
 * are what their makers made of them.
 */
export function givenValues<Fields extends Partial<DefinitionFields>>(fields: Fields): Fields {
  const copied = Object.entries(fields).map(([name, value]) => {
    if (name === 'args') return [name, writtenArgs(value)]
    return [name, isShared.has(name) ? value : frozenCopy(value)]
  })
  return Object.freeze(Object.fromEntries(copied)) as Fields
}

const isShared = new Set<string>(['input', 'output', 'schedule'] satisfies (keyof DefinitionFields)[])

/** As it will be read by a handler, and no longer the caller's object. What can not be written is refused by whoever sends it. */
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
