import { TreadleError } from '../../../core/errors.ts'
import type { MovedUnit, Packed, PackRequest, Page, PageRequest } from '../../../queue/contract/transfer.ts'
import { MovedUnits } from '../../../queue/rules/transfer/moved-units.ts'
import { script } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import { type Head, readHead } from '../units/head.ts'
import { placeRoot } from '../units/loaded-links.ts'
import type { LoadedQueue } from '../units/loaded-queue.ts'
import { field } from '../units/needs.ts'
import type { Prepared, Rule, Units } from '../units/units.ts'
import { wantComponent } from './components.ts'
import { headerWrite, type ParcelHeader, unitWrite } from './parcels.ts'

/** Maximum number of attempts when other programs have changed everything that was to be taken. The next walk tries again. */
const mostTries = 5

export interface PackingParts {
  readonly server: RedisServer
  readonly units: Units
}

interface Found {
  readonly id: string
  readonly prepared: Prepared<MovedUnit | null>
}

interface FoundPage {
  readonly found: readonly Found[]
  readonly after: string | null
}

/** Reads what would leave. */
export async function readJobs(parts: PackingParts, request: PageRequest): Promise<Page> {
  const { found, after } = await findUnits(parts, request, null)
  const { readable, unreadable } = await sorted(parts, found)
  return { paused: [], schedules: [], units: readable.flatMap(({ prepared }) => prepared.answer ?? []), after, unreadable }
}

/**
 * Takes jobs out together with their workflows. Each is taken exactly as it was read, or stays: jobs that others are changing are
 * not waited for, and the rest leave anyway.
 */
export async function packJobs(parts: PackingParts, request: PackRequest, id: string, header: ParcelHeader): Promise<Packed> {
  for (let tries = 1; ; tries++) {
    const { found, after } = await findUnits(parts, request, id)
    const { readable, unreadable } = await sorted(parts, found)
    const taken = readable.filter(({ prepared }) => prepared.answer !== null)
    if (taken.length === 0) return { parcel: null, after, unreadable }
    const label: Prepared<null> = { answer: null, failure: null, checks: [], writes: [headerWrite(id, header)], wakes: false }
    const isTaken = await parts.units.commitEach([...taken.map(({ prepared }) => prepared), label])
    const units = taken.flatMap(({ prepared }, index) => (isTaken[index] ? (prepared.answer ?? []) : []))
    if (units.length > 0) {
      const parcel = { id, ...header, units }
      return units.length === taken.length ? { parcel, after, unreadable } : { parcel, after: samePage(request), unreadable: [] }
    }
    if (tries === mostTries) return { parcel: null, after, unreadable }
  }
}

/** The next page begins where this one did: the taking of one job may have changed what was read for another, such as their key. */
function samePage({ after }: PageRequest): string {
  return after ?? 'j'
}

/** A rule also fails if half of what it read was changed in between: then the job is left for the next walk. */
async function sorted(
  { units }: PackingParts,
  found: readonly Found[],
): Promise<{ readonly readable: readonly Found[]; readonly unreadable: readonly string[] }> {
  const failed = found.filter(({ prepared }) => prepared.failure !== null)
  const passing = failed.find(({ prepared }) => prepared.failure instanceof TreadleError)
  if (passing !== undefined) throw passing.prepared.failure
  const isSame = failed.length === 0 ? [] : await units.commitEach(failed.map(({ prepared }) => prepared))
  return {
    readable: found.filter(({ prepared }) => prepared.failure === null),
    unreadable: failed.filter((_, index) => isSame[index]).map(({ id }) => id),
  }
}

/**
 * Finds each workflow once, in the order of their first jobs. `parcel` is where they are put; null leaves them where they are.
 */
async function findUnits({ server, units }: PackingParts, request: PageRequest, parcel: string | null): Promise<FoundPage> {
  const { ids, last } = await nextIds(server, request)
  const wanted = await candidates(server, ids, request)
  const seen = new Set<string>()
  const rules = wanted.map((id, place): Rule<MovedUnit | null> => {
    return (queue) => {
      if (seen.has(id)) return { answer: null }
      const unit = unitWith(queue, id, request, parcel !== null)
      if (unit === null) return { answer: null }
      for (const job of unit.jobs) seen.add(job.id)
      return { answer: unit, ...(parcel !== null && { ops: [unitWrite(parcel, place, unit)] }) }
    }
  })
  const prepared = await units.prepareEach(rules)
  const found = wanted.map((id, index) => ({ id, prepared: prepared[index] as Prepared<MovedUnit | null> }))
  return { found, after: last === null ? null : `j${last}` }
}

function unitWith(queue: LoadedQueue, id: string, request: PageRequest, isTaken: boolean): MovedUnit | null {
  wantComponent(queue, id)
  const moved = new MovedUnits({ ...queue.rules, logs: queue.logs })
  const job = queue.job(id)
  if (job === undefined || !moved.isMeant(job, request)) return null
  const members = moved.componentOf(job)
  if (!isTaken && moved.wasShown(members, request.after?.slice(1) ?? '', request)) return null
  const unit = moved.unitOf(members)
  if (unit !== null && isTaken) moved.takeOut([unit])
  return unit
}

const idsScript = script(`
local answers = {}
for at = 3, #ARGV do
  answers[#answers + 1] = redis.call('ZRANGEBYLEX', KEYS[1] .. 'all:' .. ARGV[at], ARGV[1], '+', 'LIMIT', 0, ARGV[2])
end
return answers
`)

/** All states that may leave; running jobs may not. */
const states = ['ready', 'scheduled', 'blocked', 'succeeded', 'dead', 'cancelled', 'skipped'] as const

async function nextIds(
  server: RedisServer,
  { after, limit }: PageRequest,
): Promise<{ readonly ids: readonly string[]; readonly last: string | null }> {
  const from = after === null || after === 'j' ? '-' : `(${after.slice(1)}`
  const lists = (await server.run(idsScript, [from, limit, ...states])) as string[][]
  const ids = lists.flat().sort().slice(0, limit)
  return { ids, last: ids.length < limit ? null : (ids.at(-1) ?? null) }
}

/** The requested jobs, and only the first of each workflow. Unreadable ones are detected later. */
async function candidates(server: RedisServer, ids: readonly string[], request: PageRequest): Promise<readonly string[]> {
  const rows = await server.read([...ids.map((id) => field('h', id)), ...ids.map((id) => field('p', id))])
  const roots = new Set<string>()
  return ids.filter((_, index) => {
    const [head, place] = [headOf(rows[index]), rows[ids.length + index]]
    if (head !== undefined && !isAskedFor(head, request)) return false
    if (head === undefined || typeof place !== 'string') return true
    const root = rootOf(place)
    if (root === undefined) return true
    if (roots.has(root)) return false
    roots.add(root)
    return true
  })
}

function isAskedFor({ queue, createdAt }: Head, request: PageRequest): boolean {
  return (request.queue === null || request.queue === queue) && createdAt <= request.createdBefore
}

function headOf(text: unknown): Head | undefined {
  try {
    return typeof text === 'string' ? readHead(text) : undefined
  } catch {
    return undefined
  }
}

function rootOf(place: string): string | undefined {
  try {
    return placeRoot(place)
  } catch {
    return undefined
  }
}
