import type { Rate } from '../../contract/limits.ts'
import { parsed } from '../../model/parsed-json.ts'

/** What a rate has recently let through: when and how many, oldest first. */
export type RateLog = readonly (readonly [at: number, count: number])[]

/** Parses a stored log. A spoilt one counts as empty, so that claims continue. */
export function readRateLog(text: unknown): RateLog {
  const log = parsed(text)
  const isEntry = (entry: unknown) =>
    Array.isArray(entry) && entry.length === 2 && Number.isFinite(entry[0]) && Number.isFinite(entry[1])
  return Array.isArray(log) && log.every(isEntry) ? (log as RateLog) : []
}

const mostEntries = 64
/**
 * Entries are merged within one window divided by this number. That makes a rate too strict by at most this share, and never too
 * generous.
 */
const mergedShares = 60

/** How many more may pass now. The window slides: it always ends now. */
export function tokensLeft(log: RateLog, rate: Rate, now: number): number {
  return rate.limit - countOf(live(log, rate, now))
}

/** When the next one may pass; `now` if it may pass at once. */
export function nextTokenAt(log: RateLog, rate: Rate, now: number): number {
  let over = countOf(live(log, rate, now)) - rate.limit + 1
  if (over <= 0) return now
  for (const [at, count] of live(log, rate, now)) {
    over -= count
    if (over <= 0) return at + rate.perMs
  }
  return now + rate.perMs
}

/**
 * The log after this many more have passed. Exact for up to 64 entries; beyond that, entries that are close together are merged
 * at the later time.
 */
export function withTaken(log: RateLog, rate: Rate, now: number, count: number): RateLog {
  const kept = live(log, rate, now)
  if (count === 0) return kept
  // Another process's clock may be ahead of this one's.
  const at = Math.max(now, kept.at(-1)?.[0] ?? now)
  const taken = joined([...kept, [at, count]], (time) => time)
  return taken.length <= mostEntries ? taken : joined(taken, (time) => Math.floor((time * mergedShares) / rate.perMs))
}

function live(log: RateLog, { perMs }: Rate, now: number): RateLog {
  return log.filter(([at]) => at > now - perMs)
}

function countOf(log: RateLog): number {
  return log.reduce((sum, [, count]) => sum + count, 0)
}

/** Merges neighbours that share the same `place`. */
function joined(log: RateLog, place: (at: number) => number): RateLog {
  const entries: (readonly [number, number])[] = []
  for (const [at, count] of log) {
    const last = entries.at(-1)
    if (last === undefined || place(last[0]) !== place(at)) entries.push([at, count])
    else entries[entries.length - 1] = [at, last[1] + count]
  }
  return entries
}
