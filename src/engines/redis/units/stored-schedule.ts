import type { StoredDefinition } from '../../../queue/contract/schedule-store.ts'
import { parsed } from '../../../queue/model/parsed-json.ts'
import { readTime } from '../../../queue/model/spoilt.ts'
import type { StoredSchedule } from '../../../queue/rules/schedules/schedules.ts'
import { textIn, textOrNull } from './stored-text.ts'

/** The schedule stored under a name. Only the name of a corrupted one is kept, which leaves nothing to verify. */
export function readSchedule(name: string, text: string | null): StoredSchedule | undefined {
  if (text === null) return undefined
  const { expression, timezone, version, definition, since, paused } = Object(parsed(text)) as Readonly<Record<string, unknown>>
  return {
    name,
    expression: textIn(expression),
    timezone: textIn(timezone),
    version: textIn(version),
    definition: definitionIn(definition),
    since: readTime(since) ?? 0,
    paused: paused === true,
  }
}

function definitionIn(value: unknown): StoredDefinition | null {
  if (typeof value !== 'object' || value === null) return null
  const { text, signature } = value as Readonly<Record<string, unknown>>
  return { text: textIn(text), signature: textOrNull(signature) }
}
