import { Cron } from 'croner'

/**
 * The times that an expression names, read on a clock without a zone: milliseconds as they would be if the clock on the wall
 * showed UTC. Gives the first one after the given time, or null when there is none.
 */
export type WallTimes = (afterMs: number) => number | null

export function wallTimes(expression: string): WallTimes {
  const cron = new Cron(expression, { mode: '6-part', utcOffset: 0 })
  return (afterMs) => {
    // Occurrences are whole seconds, so nothing lies between a moment and the beginning of its second.
    const after = new Date(Math.floor(afterMs / 1_000) * 1_000)
    const next = cron.nextRun(after)
    return after.getUTCMonth() === february ? fromFebruary(cron, after, next) : (next?.getTime() ?? null)
  }
}

const february = 1

/**
 * From a moment in February, croner 11 carries a list with the 30th or 31st over into March and so jumps over the 1st and 2nd.
 * Asked from the 1st of March it answers rightly; it excludes the moment that it is asked from, hence the `match`.
 */
function fromFebruary(cron: Cron, after: Date, next: Date | null): number | null {
  const march = new Date(Date.UTC(after.getUTCFullYear(), 2, 1))
  if (next !== null && next < march) return next.getTime()
  return cron.match(march) ? march.getTime() : (cron.nextRun(march)?.getTime() ?? null)
}
