import { parsed } from '../../../queue/model/parsed-json.ts'
import type { KeptOnce } from '../../../queue/rules/keys/once-keys.ts'
import type { LastingKey } from '../../../queue/rules/keys/unique-keys.ts'
import { readRateLog } from '../../../queue/rules/limits/rate-window.ts'
import type { Counted } from '../../../queue/rules/limits/rates.ts'
import { finiteOr, partsIn, textOrNull } from './stored-text.ts'

export function lastingOf(index: string, text: string | null): LastingKey | undefined {
  if (text === null) return undefined
  const [jobId, expiresAt] = partsIn(text)
  if (typeof jobId !== 'string') return undefined
  return { index, jobId, expiresAt: finiteOr(expiresAt, Number.POSITIVE_INFINITY), slot: -1 }
}

export function markOf(key: string, text: string | null): KeptOnce | undefined {
  if (text === null) return undefined
  const [result, seal, expiresAt] = partsIn(text)
  return { key, result: textOrNull(result), seal: textOrNull(seal), expiresAt: finiteOr(expiresAt, 0), slot: -1 }
}

/** Several texts, such as the keys that a job holds. */
export function textsOf(text: string | null): readonly string[] | undefined {
  return text === null ? undefined : partsIn(text).filter((each) => typeof each === 'string')
}

/** What a rate has let through. */
export function countedIn(text: string | null): Counted | undefined {
  if (text === null) return undefined
  const { log, expiresAt } = Object(parsed(text)) as Readonly<Record<string, unknown>>
  return { log: readRateLog(JSON.stringify(log)), expiresAt: finiteOr(expiresAt, 0) }
}
