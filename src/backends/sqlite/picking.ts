import type { GroupLimits, QueueLimits, Rate } from '../contract.ts'
import { Heap } from '../heap.ts'
import type { JobLimits } from '../limits.ts'
import { Slots } from '../slots.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import { GroupReader } from './group-reader.ts'
import { GroupSlots } from './group-slots.ts'
import type { Lane } from './lane.ts'
import { LaneReader, type Pick, type Reader, runsFirst } from './lane-reader.ts'
import type { Lanes } from './lanes.ts'
import type { Rates } from './rates.ts'

/** Up to so many lanes, or one for each job that is wanted, are each looked into; of more, only those whose first jobs are the best. */
const fewLanes = 16
/** To read one job costs little less than to read so many. */
const leastRead = 8

const noGroupLimits: GroupLimits = { concurrency: null, rate: null }

export interface PickRequest {
  readonly limit: number
  readonly jobs: ReadonlyMap<string, JobLimits>
  readonly queues: readonly QueueLimits[]
  readonly ageingMs: number
  readonly now: number
}

/** One claim on its way. */
interface Search {
  readonly request: PickRequest
  readonly slots: Slots
  readonly groups: GroupSlots
}

export interface Picked {
  readonly picks: readonly Pick[]
  /** When a rate that held something back gives way. */
  readonly nextTokenAt: number | null
}

/** Finds the best ready jobs that may start, and takes what the limits ask for them. */
export class Picking {
  readonly #lanes: Lanes
  readonly #rates: Rates
  readonly #first: SqliteStatement
  readonly #best: SqliteStatement
  readonly #bestAged: SqliteStatement

  constructor(connection: Connection, lanes: Lanes, rates: Rates) {
    this.#lanes = lanes
    this.#rates = rates
    // A bare parameter as the limit would have SQLite compile the statement anew at each call, to plan for its value.
    this.#first = connection.prepare(
      `SELECT json_group_array(json_array(run_at, seq)) AS picks FROM (
         SELECT run_at, seq FROM treadle_jobs WHERE lane = ? AND state = 0 ORDER BY run_at, seq LIMIT ? + 0 OFFSET ? + 0)`,
    )
    const best = (rank: string) =>
      connection.prepare(
        `SELECT json_group_array(place) AS places FROM (
           SELECT lanes.key AS place FROM json_each(?1) AS lanes CROSS JOIN treadle_jobs ON seq = (
             SELECT seq FROM treadle_jobs WHERE lane = lanes.value AND state = 0 ORDER BY run_at, seq LIMIT 1)
           ORDER BY ${rank}, seq LIMIT ?2 + 0)`,
      )
    this.#best = best('run_at')
    this.#bestAged = best('run_at - ?3 * (SELECT priority FROM treadle_lanes WHERE lane = lanes.value)')
  }

  /** Whether one of these lanes has a job that may start, and if not, when a rate gives way: a look that takes nothing. */
  look(request: PickRequest, lanes: readonly Lane[]): { readonly isAny: boolean; readonly nextTokenAt: number | null } {
    const slots = this.#slots(request, lanes)
    const isAny = lanes.some((lane) => slots.free(lane) > 0 && (lane.grouped === 0 || this.#hasWaitingGroup(lane, request)))
    return { isAny, nextTokenAt: nextTokenOf(slots) }
  }

  /** The lanes stand by priority, best first, and have ready jobs. */
  pick(request: PickRequest, lanes: readonly Lane[]): Picked {
    const slots = this.#slots(request, lanes)
    const search = { request, slots, groups: new GroupSlots(this.#lanes.groups, this.#rates, request.now) }
    const picks = request.ageingMs > 0 ? this.#pickOf(lanes, request.limit, search) : this.#pickByPriority(lanes, search)
    return { picks, nextTokenAt: this.#writeTokens(search) }
  }

  #slots({ jobs, queues, now }: PickRequest, lanes: readonly Lane[]): Slots {
    const tokens = (scope: string, rate: Rate) => this.#rates.tokens(scope, rate, now)
    return new Slots({ jobs, queues, running: this.#lanes, tokens }, lanes)
  }

  #hasWaitingGroup({ lane, job }: Lane, { jobs }: PickRequest): boolean {
    return this.#lanes.groups.waiting(lane, groupConcurrency(jobs.get(job)?.group), 1, 0).length > 0
  }

  /** Lane after lane by priority; lanes of the same priority are merged by the time at which their jobs were due. */
  #pickByPriority(lanes: readonly Lane[], search: Search): readonly Pick[] {
    const { limit } = search.request
    const picks: Pick[] = []
    for (let from = 0; from < lanes.length && picks.length < limit; ) {
      const to = endOfPriority(lanes, from)
      picks.push(...this.#pickOf(lanes.slice(from, to), limit - picks.length, search))
      from = to
    }
    return picks
  }

  #pickOf(lanes: readonly Lane[], limit: number, search: Search): readonly Pick[] {
    const readers = new Heap(runsFirst)
    for (const reader of this.#readersOf(this.#winners(lanes, limit, search), limit, search)) {
      if (reader.head !== undefined) readers.add(reader)
    }
    const picks: Pick[] = []
    for (let best = readers.peek(); best !== undefined && picks.length < limit; best = readers.peek()) {
      readers.remove(best)
      const pick = best.refresh()
      if (pick === undefined || !search.slots.take(pick.lane)) continue
      picks.push(pick)
      best.advance()
      if (best.head !== undefined) readers.add(best)
    }
    return picks
  }

  #readersOf(lanes: readonly Lane[], limit: number, search: Search): readonly Reader[] {
    const partSize = Math.max(leastRead, Math.ceil(limit / lanes.length))
    return lanes.flatMap((lane) => {
      const most = Math.min(limit, search.slots.free(lane))
      if (most <= 0) return []
      return lane.grouped === 1 ? this.#groupReader(lane, most, partSize, search) : this.#laneReader(lane, most, partSize, search)
    })
  }

  #laneReader(lane: Lane, most: number, partSize: number, { request }: Search): LaneReader {
    const headStartMs = lane.priority * request.ageingMs
    const read = (count: number, after: number) => {
      const { picks } = this.#first.get(lane.lane, count, after) as { picks: string }
      return (JSON.parse(picks) as [number, number][]).map(([runAt, seq]) => ({ seq, rank: runAt - headStartMs, lane }))
    }
    return new LaneReader(read, partSize, most)
  }

  #groupReader(family: Lane, most: number, partSize: number, search: Search): GroupReader {
    const limits = search.request.jobs.get(family.job)?.group ?? noGroupLimits
    const concurrency = groupConcurrency(limits)
    const source = {
      concurrency,
      slots: search.groups,
      read: (count: number, after: number) => this.#lanes.groups.waiting(family.lane, concurrency, count, after),
      jobsOf: (lane: Lane) => this.#laneReader(lane, most, leastRead, search),
      mayStart: (lane: Lane) => search.groups.mayStart(lane, limits),
    }
    return new GroupReader(family, source, partSize)
  }

  /**
   * Of many lanes, those that a claim can get something from. Where the first jobs of so many lanes as the claim wants jobs may
   * all start, nothing that comes after them can be among the best. Which job of a lane of groups is first is not known here.
   */
  #winners(lanes: readonly Lane[], limit: number, search: Search): readonly Lane[] {
    if (lanes.length <= Math.max(fewLanes, limit)) return lanes
    const families = lanes.filter(({ grouped }) => grouped === 1)
    const others = families.length === 0 ? lanes : lanes.filter(({ grouped }) => grouped === 0)
    const best = search.slots.together(this.#bestOf(others, limit, search))
    const winners = best.length === limit ? best : search.slots.together(this.#bestOf(others, others.length, search))
    return [...families, ...winners.slice(0, limit)]
  }

  /** In the order of their first jobs. */
  #bestOf(lanes: readonly Lane[], count: number, { request }: Search): readonly Lane[] {
    const numbers = JSON.stringify(lanes.map(({ lane }) => lane))
    const { ageingMs } = request
    const row = ageingMs > 0 ? this.#bestAged.get(numbers, count, ageingMs) : this.#best.get(numbers, count)
    const { places } = row as { places: string }
    return (JSON.parse(places) as number[]).map((place) => lanes[place] as Lane)
  }

  #writeTokens({ slots, groups, request }: Search): number | null {
    const tokens = [...slots.tokens, ...groups.tokens]
    this.#rates.write(
      tokens.filter(({ isTaken }) => isTaken),
      request.now,
    )
    return earlier(nextTokenOf(slots), groups.hold())
  }
}

/** When the first of the rates that let nothing through gives way. */
function nextTokenOf({ tokens }: Slots): number | null {
  const next = tokens.filter(({ left }) => left <= 0).map(({ nextAt }) => nextAt)
  return next.reduce<number | null>(earlier, null)
}

function groupConcurrency(limits: GroupLimits | null | undefined): number {
  return limits?.concurrency ?? Number.MAX_SAFE_INTEGER
}

export function earlier(a: number | null, b: number | null): number | null {
  return a === null || (b !== null && b < a) ? b : a
}

function endOfPriority(lanes: readonly Lane[], from: number): number {
  const priority = lanes[from]?.priority
  let to = from + 1
  while (lanes[to]?.priority === priority) to++
  return to
}
