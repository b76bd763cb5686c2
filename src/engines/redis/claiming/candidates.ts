import type { LeaseRequest } from '../../../queue/contract/contract.ts'
import type { RedisServer } from '../connections/server.ts'
import { groupStep } from '../scripts/indexes.ts'
import type { LaneName } from '../units/head.ts'
import type { LoadedQueue } from '../units/loaded-queue.ts'
import { field, jobNeeds, range } from '../units/needs.ts'
import type { Op } from '../units/places.ts'
import type { Outlook } from './outlook.ts'
import { wantedLanes } from './wanted-lanes.ts'

/** The first jobs of a lane, or of a group in a lane. */
interface Place {
  readonly lane: LaneName
  readonly group: string | null
  readonly ids: readonly string[]
  /** Whether there may be more. */
  readonly isCut: boolean
}

/** Ready jobs from which a claim chooses, in the order of their lanes and groups. */
class Candidates {
  readonly #places: readonly Place[]
  readonly #hasMoreLanes: boolean

  constructor(places: readonly Place[], hasMoreLanes: boolean) {
    this.#places = places
    this.#hasMoreLanes = hasMoreLanes
  }

  get isEmpty(): boolean {
    return this.#places.length === 0
  }

  /** Loads them for the rules of a claim. Returns the steps that remove entries from lanes that are not ready jobs. */
  adopt(queue: LoadedQueue, { jobs }: LeaseRequest): readonly Op[] {
    const ids = this.#places.flatMap((place) => place.ids)
    queue.rows.want(ids.flatMap((id) => [...jobNeeds(id), range(`et:${id}`)]))
    const counted = new Set(jobs.filter(({ concurrency }) => concurrency !== null).map(({ job }) => job))
    const bounded = this.#places.filter(({ lane }) => lane.singleInstance || counted.has(lane.job))
    queue.rows.want(bounded.map(({ lane }) => field('c', `k\n${lane.job}`)))
    const limited = new Set(jobs.filter(({ group }) => group != null).map(({ job }) => job))
    for (const { lane, group } of this.#places) {
      if (group === null) continue
      const name = `g\n${lane.job}\n${group}`
      const busy = limited.has(lane.job) ? queue.count(name) : Number(queue.rows.field('c', name) ?? 0)
      queue.rules.jobs.lanes.groups.adopt(lane.job, group, busy)
    }
    for (const id of ids) queue.job(id)
    const isStray = (id: string) => queue.loaded.get(id)?.head.state !== 'ready'
    return this.#places.flatMap(({ lane, group, ids }) => ids.filter(isStray).map((id) => ['N', lane.lane, group ?? '', id]))
  }

  /**
   * Whether a place ran out of candidates before the claim ended, so that its next job might have come before those chosen later;
   * or whether lanes that were not read could supply what limits have held back in the others.
   */
  areTooFew(chosen: readonly string[], limit: number): boolean {
    const last = chosen.length === limit ? chosen.at(-1) : undefined
    if (this.#hasMoreLanes && chosen.length < limit) return true
    const taken = new Set(chosen)
    return this.#places.some(({ ids, isCut }) => isCut && ids.at(-1) !== last && ids.every((id) => taken.has(id)))
  }
}

/** Thrown when a claim has read too few jobs. */
export class TooFewCandidates extends Error {}

/** The jobs that the request would take without limits. Reads up to `times` its share from each lane. */
export async function candidatesFor(
  server: RedisServer,
  request: LeaseRequest,
  outlook: Outlook,
  times: number,
): Promise<Candidates> {
  const { lanes, hasMore } = await wantedLanes(server, request, outlook, times)
  const size = shareOf(request.limit, lanes.length, times)
  const [plain, grouped] = [lanes.filter(({ isGrouped }) => !isGrouped), lanes.filter(({ isGrouped }) => isGrouped)]
  const answers = await server.all([
    ...plain.map(({ lane }) => ['ZRANGE', `r:${lane}`, 0, size - 1] as const),
    ...grouped.map(({ lane }) => ['ZRANGE', `g:${lane}`, 0, request.limit - 1, 'WITHSCORES'] as const),
  ])
  const places = plain.map((lane, index) => placeOf(lane, null, answers[index] as string[], size))
  const groups = grouped.flatMap((lane, index) =>
    inTurn(answers[plain.length + index] as string[]).map((group) => ({ lane, group })),
  )
  const perGroup = shareOf(request.limit, groups.length, times)
  const ofGroups = await server.all(
    groups.map(({ lane, group }) => ['ZRANGE', `r:${lane.lane}\n${group}`, 0, perGroup - 1] as const),
  )
  const inGroups = groups.map(({ lane, group }, index) => placeOf(lane, group, ofGroups[index] as string[], perGroup))
  return new Candidates([...places, ...inGroups], hasMore)
}

/** The rules know how many jobs of a group run, but learn the turns of groups only from the order in which they are loaded. */
function inTurn(scored: readonly string[]): readonly string[] {
  const groups = scored
    .filter((_, at) => at % 2 === 0)
    .map((group, at) => ({ group, turn: Number(scored[2 * at + 1]) % groupStep }))
  return groups.sort((a, b) => a.turn - b.turn).map(({ group }) => group)
}

function placeOf(lane: LaneName, group: string | null, ids: readonly string[], size: number): Place {
  return { lane, group, ids, isCut: ids.length === size }
}

/** How many jobs to read from each place. */
function shareOf(limit: number, places: number, times: number): number {
  return places <= 2 ? limit : Math.min(limit, times * Math.max(2, Math.ceil(limit / places)))
}
