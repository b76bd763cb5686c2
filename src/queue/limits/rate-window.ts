import type { Rate } from '../contract/limits.ts'
import { parsed } from '../model/parsed-json.ts'

/** What a rate has let through of late: when and how many, the oldest first. */
export type RateLog = readonly (readonly [at: number, count: number])[]

/** As it is stored. One that somebody has spoilt is an empty one, so that claims go on. */
export function readRateLog(text: unknown): RateLog {
  const log = parsed(text)
  const isEntry = (entry: unknown) =>
    Array.isArray(entry) && entry.length === 2 && Number.isFinite(entry[0]) && Number.isFinite(entry[1])
  return Array.isArray(log) && log.every(isEntry) ? (log as RateLog) : []
}

const mostEntries = 64
/** Entries that are merged lie within such a share of the window: so much too strict a rate may be, and never too generous. */
const mergedShares = 60

/** How many more may pass now. The window slides: it is the time just before now, wherever that begins. */
export function tokensLeft(log: RateLog, rate: Rate, now: number): number {
  return rate.limit - countOf(live(log, rate, now))
}

/** When the next one may pass; now, where it may at once. */
export function nextTokenAt(log: RateLog, rate: Rate, now: number): number {
  let over = countOf(live(log, rate, now)) - rate.limit + 1
  if (over <= 0) return now
  for (const [at, count] of live(log, rate, now)) {
    over -= count
    if (over <= 0) return at + rate.perMs
  }
  return now + rate.perMs
}

/** The log after this many more have passed. Up to 64 of them it is exact; of more, those that are close together become one, at the later time. */
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

/** Neighbours that stand in the same place by `place` as one. */
function joined(log: RateLog, place: (at: number) => number): RateLog {
  const entries: (readonly [number, number])[] = []
  for (const [at, count] of log) {
    const last = entries.at(-1)
    if (last === undefined || place(last[0]) !== place(at)) entries.push([at, count])
    else entries[entries.length - 1] = [at, last[1] + count]
  }
  return entries
}
