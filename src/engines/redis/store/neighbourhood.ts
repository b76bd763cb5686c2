import type { OccurrenceKey } from '../../../queue/contract/schedule-store.ts'
import { type StoredOccurrence, Timeline } from '../../../queue/rules/schedules/timeline.ts'
import type { RedisServer } from '../connections/server.ts'
import { instantsIn, occurrenceName, readOccurrence } from '../units/loaded-timeline.ts'
import { field } from '../units/needs.ts'

/** Waiting occurrences start in order. One that has started behind this many that have not is not looked for. */
const mostWaiting = 100
/** How many occurrences from an instant on to read at first, to find one that shows a scheduler was there. */
const firstLater = 16

/**
 * What the rules about the neighbours of an occurrence look at: the first unended occurrences before it, and those from it on up
 * to the first that was stored when it had fallen due. A worker asks before each run of a schedule, and any number of runs may
 * be waiting.
 */
export async function neighbourhoodOf(server: RedisServer, { schedule, at }: OccurrenceKey): Promise<Timeline> {
  const [unended, latest] = (await server.all([
    ['ZRANGEBYSCORE', `ou:${schedule}`, '-inf', `(${at}`, 'LIMIT', 0, mostWaiting],
    ['ZRANGE', `occ:${schedule}`, -1, -1],
  ])) as [string[], string[]]
  const found = await occurrencesAt(server, schedule, [...unended, ...latest])
  for (let start = 0, size = firstLater; !found.some((each) => isLate(each, at)); start += size, size *= 4) {
    const [later] = (await server.all([['ZRANGEBYSCORE', `occ:${schedule}`, at, '+inf', 'LIMIT', start, size]])) as [string[]]
    found.push(...(await occurrencesAt(server, schedule, later)))
    if (later.length < size) break
  }
  const byInstant = new Map(found.map((each) => [each.at, each]))
  return new Timeline(
    schedule,
    [...byInstant.values()].sort((a, b) => a.at - b.at),
  )
}

function isLate(occurrence: StoredOccurrence, at: number): boolean {
  return occurrence.at >= at && occurrence.storedAt >= at
}

async function occurrencesAt(server: RedisServer, schedule: string, members: readonly string[]): Promise<StoredOccurrence[]> {
  const instants = instantsIn(members)
  const texts = await server.read(instants.map((at) => field('oc', occurrenceName(schedule, at))))
  return instants.flatMap((at, index) => {
    const text = texts[index]
    return typeof text === 'string' ? [readOccurrence(schedule, at, text)] : []
  })
}
