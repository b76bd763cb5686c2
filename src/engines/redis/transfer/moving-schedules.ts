import type { Packed, PackRequest, Page, PageRequest } from '../../../queue/contract/transfer.ts'
import { MovedSchedules } from '../../../queue/rules/transfer/moved-schedules.ts'
import type { RedisServer } from '../connections/server.ts'
import { pairsOf } from '../store/jobs.ts'
import type { LoadedQueue } from '../units/loaded-queue.ts'
import { field } from '../units/needs.ts'
import type { Units } from '../units/units.ts'
import { forEachTogether, wantTimelines } from './components.ts'
import { headerWrite } from './parcels.ts'

export interface SchedulesParts {
  readonly server: RedisServer
  readonly units: Units
}

/** Maximum number of schedules per page, which includes their last occurrences. */
const largestPage = 100

/** Schedules come first: their cursor is `s` and the revision of the last one; that of jobs is `j` and an id. */
export function isOfSchedules({ after }: PageRequest): boolean {
  return after === null || after.startsWith('s')
}

export async function readSchedules(parts: SchedulesParts, request: PageRequest): Promise<Page> {
  const { names, after } = await nextNames(parts.server, request)
  const paused = await pausedQueues(parts.server, request)
  const schedules = await parts.units.run((queue) => ({ answer: schedulesOf(queue, names, request) }))
  return { paused, schedules, units: [], after, unreadable: [] }
}

/** A schedule that leaves gets a new revision, so the walk finds it again at its end and skips it. */
export async function packSchedules(
  { server, units }: SchedulesParts,
  request: PackRequest,
  id: string,
  origin: string,
): Promise<Packed> {
  const { target } = request
  const { names, after } = await nextNames(server, request)
  const pausedHere = await pausedQueues(server, request)
  const parcel = await units.run((queue) => {
    const isNew = request.after === null && queue.rows.field('told', target) === null
    const schedules = schedulesOf(queue, names, request)
    const moved = movedSchedules(queue)
    for (const { name } of schedules) moved.leave(name, target)
    const header = { target, origin, paused: isNew ? pausedHere : [], schedules }
    const told = isNew ? [['S', 'told', target, 1]] : []
    const isNothing = header.paused.length === 0 && schedules.length === 0
    if (isNothing) return { answer: null, ops: told }
    return { answer: { id, ...header, units: [] }, ops: [...told, headerWrite(id, header)] }
  })
  return { parcel, after, unreadable: [] }
}

export function movedSchedules(queue: LoadedQueue): MovedSchedules {
  return new MovedSchedules({ ...queue.rules, away: queue.away, numbers: { startFrom: () => {} } })
}

function schedulesOf(queue: LoadedQueue, names: readonly string[], request: PageRequest) {
  queue.rows.want(names.flatMap((name) => [field('sch', name), field('away', name)]))
  wantTimelines(queue, names)
  if (request.queue !== null) {
    const timelines = names.map((name) => queue.rules.schedules.timeline(name))
    queue.want(timelines.flatMap(({ all, unended }) => [...all, ...unended].map(({ jobId }) => jobId)))
  }
  const moved = movedSchedules(queue)
  forEachTogether(names, (name) => moved.read([name], request.queue))
  return moved.read(names, request.queue)
}

async function nextNames(
  server: RedisServer,
  { after, limit }: PageRequest,
): Promise<{ readonly names: readonly string[]; readonly after: string }> {
  const size = Math.min(limit, largestPage)
  const from = after === null ? '-inf' : `(${after.slice(1)}`
  const [flat] = (await server.all([['ZRANGEBYSCORE', 'schx', from, '+inf', 'WITHSCORES', 'LIMIT', 0, size]])) as [string[]]
  const page = [...pairsOf(flat)]
  const last = page.length < size ? undefined : page.at(-1)?.[1]
  return { names: page.map(([name]) => name), after: last === undefined ? 'j' : `s${last}` }
}

/** Read once, for the first page. */
async function pausedQueues(server: RedisServer, { after, queue }: PageRequest): Promise<readonly string[]> {
  if (after !== null) return []
  const [names] = (await server.all([['HKEYS', 'paused']])) as [string[]]
  return names.filter((name) => queue === null || name === queue).sort()
}
