import type { LeaseRequest } from '../../../queue/contract/contract.ts'
import { keyRanges, keyTest } from '../../../queue/rules/claiming/key-pattern.ts'
import { isPaused } from '../../../queue/rules/claiming/pausing.ts'
import { wantedTest } from '../../../queue/rules/claiming/wanted-jobs.ts'
import type { RedisServer } from '../connections/server.ts'
import { type LaneName, readLane } from '../units/head.ts'
import { mostLanes, type Outlook } from './outlook.ts'

export type LaneRequest = Pick<LeaseRequest, 'jobs' | 'others' | 'queues' | 'priority' | 'ageingMs' | 'limit'>

export interface WantedLanes {
  readonly lanes: readonly LaneName[]
  /** Whether there are more wanted lanes that are worth reading. */
  readonly hasMore: boolean
}

/**
 * Minimum number of lanes matching a pattern to read at first. If limits hold back too much, more are read, up to `mostTimes` as
 * many.
 */
const fewLanes = 8
const mostTimes = 128
/** Up to this many names, queues of jobs or lanes are looked up one by one. */
const fewNames = 1_000
/** How many unwanted lanes to skip before looking up all names that a pattern may match instead. */
const mostPassedOver = 4_000

/** Finds lanes with ready jobs for a request, enough for what it may take. `times` multiplies how many are read. */
export async function wantedLanes(
  server: RedisServer,
  request: LaneRequest,
  outlook: Pick<Outlook, 'lanes' | 'paused'>,
  times: number,
): Promise<WantedLanes> {
  const isMeant = wantedTest(request)
  const isWanted = (lane: LaneName) => isMeant(lane) && !isPaused(outlook.paused, lane)
  if (outlook.lanes !== null) return { lanes: outlook.lanes.map(readLane).filter(isWanted), hasMore: false }
  const most = Math.max(request.limit, fewLanes) * times
  const named = await lanesOfFew(server, request, isWanted)
  if (named === null) {
    const best = await bestLanes(server, request, isWanted, most, mostPassedOver)
    if (best !== null) return { ...best, hasMore: best.hasMore && times < mostTimes }
  }
  const ofJobs = named ?? (await lanesOfJobs(server, namesOf(request), isWanted))
  if (request.others == null) return { lanes: ofJobs, hasMore: false }
  const fitting = await fittingLanes(server, request, isWanted, most)
  const lanes = new Map([...ofJobs, ...fitting.lanes].map((lane) => [lane.lane, lane]))
  return { lanes: [...lanes.values()], hasMore: fitting.hasMore && times < mostTimes }
}

function namesOf({ jobs }: LaneRequest): readonly string[] {
  return [...new Set(jobs.map(({ job }) => job))]
}

/** All lanes of the named jobs, from the queues that the request is for. Null if there may be many of them. */
async function lanesOfFew(
  server: RedisServer,
  request: LaneRequest,
  isWanted: (lane: LaneName) => boolean,
): Promise<readonly LaneName[] | null> {
  const jobs = namesOf(request)
  const { queues } = request
  if (queues !== null && queues.length * jobs.length <= fewNames) {
    const places = queues.flatMap((queue) => jobs.map((job) => `w:${queue}\n${job}`))
    const parts = await server.all(places.map((place) => ['SMEMBERS', place] as const))
    return (parts as string[][]).flat().map(readLane).filter(isWanted)
  }
  const counts = await server.all(jobs.map((job) => ['ZCARD', `o:${job}`] as const))
  const lanes = (counts as number[]).reduce((sum, count) => sum + count, 0)
  return lanes <= fewNames ? lanesOfJobs(server, jobs, isWanted) : null
}

/** Reads jobs with many lanes page by page. */
async function lanesOfJobs(
  server: RedisServer,
  jobs: readonly string[],
  isWanted: (lane: LaneName) => boolean,
): Promise<readonly LaneName[]> {
  const lanes: LaneName[] = []
  let open = jobs
  for (let start = 0; open.length > 0; start += mostLanes) {
    const parts = await server.all(open.map((job) => ['ZRANGE', `o:${job}`, start, start + mostLanes - 1] as const))
    lanes.push(...(parts as string[][]).flat().map(readLane).filter(isWanted))
    open = open.filter((_, index) => (parts[index] as string[]).length === mostLanes)
  }
  return lanes
}

/** If the pattern allows only a few names, looks those up; otherwise reads all lanes, best first. */
async function fittingLanes(
  server: RedisServer,
  request: LaneRequest,
  isWanted: (lane: LaneName) => boolean,
  most: number,
): Promise<WantedLanes> {
  const ranges = keyRanges(request.others ?? [])?.map(({ from, to }) => [`[${from}`, `(${to}`] as const) ?? null
  const isOther = keyTest(request.others ?? [])
  const namesBetween = async () => {
    const parts = await server.all((ranges ?? []).map(([from, to]) => ['ZRANGEBYLEX', 'names', from, to] as const))
    return [...new Set((parts as string[][]).flat())].filter(isOther)
  }
  if (ranges === null) return bestLanes(server, request, isWanted, most, Number.POSITIVE_INFINITY) as Promise<WantedLanes>
  const counts = await server.all(ranges.map(([from, to]) => ['ZLEXCOUNT', 'names', from, to] as const))
  const names = (counts as number[]).reduce((sum, count) => sum + count, 0)
  const best = names <= fewNames ? null : await bestLanes(server, request, isWanted, most, mostPassedOver)
  if (best !== null) return best
  return { lanes: await lanesOfJobs(server, await namesBetween(), isWanted), hasMore: false }
}

/**
 * Up to `most` lanes per priority, or in total if priorities are strict, ordered by their first jobs. Null if too many unwanted
 * lanes come before them.
 */
async function bestLanes(
  server: RedisServer,
  { priority = null, ageingMs }: LaneRequest,
  isWanted: (lane: LaneName) => boolean,
  most: number,
  mostOthers: number,
): Promise<WantedLanes | null> {
  const [all] = (await server.all([['ZREVRANGE', 'levels', 0, -1]])) as [string[]]
  const levels = priority === null ? all : all.filter((level) => Number(level) === priority)
  const isStrict = (ageingMs ?? 0) === 0
  const lanes: LaneName[] = []
  let passedOver = 0
  let hasMore = false
  for (const level of levels) {
    const wanted = isStrict ? most - lanes.length : most
    if (wanted <= 0) return { lanes, hasMore: true }
    const found: LaneName[] = []
    for (let start = 0, size = Math.max(mostLanes, 2 * wanted); found.length < wanted; start += size) {
      const [part = []] = (await server.all([['ZRANGE', `op:${level}`, start, start + size - 1]])) as string[][]
      const fit = part.map((placed) => readLane(placed.slice(placed.indexOf('\n') + 1))).filter(isWanted)
      found.push(...fit)
      passedOver += part.length - fit.length
      if (passedOver > mostOthers) return null
      if (part.length < size) break
    }
    hasMore ||= found.length > wanted
    lanes.push(...found.slice(0, wanted))
  }
  return { lanes, hasMore }
}
