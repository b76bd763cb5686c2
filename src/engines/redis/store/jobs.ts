import { parseIdentity, tagsOf } from '../../../envelope/envelope.ts'
import { finalStates, type JobState, jobStates } from '../../../queue/contract/job-state.ts'
import type { ClaimRules, Hold } from '../../../queue/contract/limits.ts'
import type { HeldLease, JobFilter, JobRecord, RemoveFilter } from '../../../queue/contract/store.ts'
import { isInPlace } from '../../../queue/model/place-filter.ts'
import { soundFields } from '../../../queue/model/spoilt.ts'
import { inClaimOrder } from '../../../queue/rules/claiming/claim-order.ts'
import { heldLeaseOf, recordOf, type StoredJob } from '../../../queue/rules/jobs/job.ts'
import { holdsOf } from '../../../queue/rules/limits/holds.ts'
import { script } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import { readHead } from '../units/head.ts'
import { field } from '../units/needs.ts'
import { bodyIn } from '../units/stored-text.ts'
import type { Units } from '../units/units.ts'

/** Maximum number of ids per read. */
const page = 500
/** The first page of a list; each one after it is this many times as long, up to the longest, because little seems to match. */
const [firstPage, growth] = [20, 5]

/** Whether a lane of a key has jobs that must run alone. The third line of its name says so: see `readLane`. */
const aloneScript = script(`
local lanes = KEYS[1] .. 'o:' .. ARGV[1]
local start, size = 0, ${page}
while true do
  local some = redis.call('ZRANGE', lanes, start, start + size - 1)
  for _, lane in ipairs(some) do
    if string.match(lane, '^[^\\n]*\\n[^\\n]*\\n(.)') == '!' then return 1 end
  end
  if #some < size then return 0 end
  start = start + size
end
`)

/** Queries for jobs; no decisions depend on their answers. */
export class Looking {
  readonly #server: RedisServer
  readonly #units: Units

  constructor(server: RedisServer, units: Units) {
    this.#server = server
    this.#units = units
  }

  /** In this order; missing ones are left out. */
  records(ids: readonly string[]): Promise<readonly JobRecord[]> {
    if (ids.length === 0) return Promise.resolve([])
    return this.#units.run((queue) => {
      queue.rows.want(ids.map((id) => field('b', id)))
      queue.want(ids)
      const jobs = ids.flatMap((id) => queue.job(id) ?? [])
      return { answer: jobs.map((job) => soundRecordOf(job, queue.loaded.get(job.envelope.id)?.isSpoilt ?? false)) }
    })
  }

  /** Walks through the smallest of the sets that contain all matching jobs. */
  async list(filter: JobFilter): Promise<readonly JobRecord[]> {
    const found: string[] = []
    const sets = await this.#smallest(filter)
    let before = filter.before
    let size = Math.min(page, Math.max(firstPage, filter.limit))
    while (found.length < filter.limit) {
      const ids = await this.#newest(sets, before, size)
      const heads = await this.#heads(ids)
      const meant = ids.filter((id) => matches(heads.get(id), filter))
      const linked = filter.isLinked === undefined ? meant : await this.#linked(meant)
      found.push(...(filter.tag === undefined ? linked : await this.#tagged(linked, filter.tag)))
      before = ids.at(-1)
      if (ids.length < size) break
      size = Math.min(page, growth * size)
    }
    return this.records(found.slice(0, Math.max(0, filter.limit)))
  }

  /** In the order of the claims, and within a claim in the order it chose them. */
  async leases(ids: readonly string[], isMeant: (job: StoredJob) => boolean): Promise<readonly HeldLease[]> {
    return this.#units.run((queue) => {
      queue.rows.want(ids.map((id) => field('b', id)))
      queue.want(ids)
      const held = [...new Set(ids)].flatMap((id) => queue.job(id) ?? []).filter((job) => job.state === 'running' && isMeant(job))
      return { answer: held.sort((a, b) => inClaimOrder(claimed(a), claimed(b))).map(heldLeaseOf) }
    })
  }

  async holds(id: string, rules: ClaimRules): Promise<readonly Hold[]> {
    const [head] = await this.#server.read([field('h', id)])
    if (typeof head !== 'string') return []
    const { state, job } = readHead(head)
    if (state !== 'ready') return []
    const isAlone = (await this.#server.run(aloneScript, [job])) === 1
    return this.#units.run((queue) => {
      const found = queue.job(id)
      if (found?.state !== 'ready') return { answer: [] }
      const { queue: name, group } = found.envelope
      const running = (scope: string) => Number(queue.rows.field('c', scope) ?? 0)
      const facts = {
        ...{ job, queue: name, group, isAlone, now: queue.now },
        runningOfKey: running(`k\n${job}`),
        runningInQueue: running(`q\n${name}`),
        runningInGroup: group === null ? 0 : running(`g\n${job}\n${group}`),
        logOf: (scope: string) => queue.rules.limits.rates.logOf(scope),
      }
      return { answer: holdsOf(facts, rules) }
    })
  }

  /** Ordered by end, oldest first, so that a limited removal takes the oldest. */
  async ended(filter: RemoveFilter): Promise<readonly string[]> {
    if (filter.ids !== undefined) {
      const ids = [...new Set(filter.ids)]
      const heads = await this.#heads(ids)
      const meant = ids.filter((id) => isRemoved(heads.get(id), filter))
      const endOf = (id: string) => heads.get(id)?.finishedAt ?? 0
      return meant.sort((a, b) => endOf(a) - endOf(b) || (a < b ? -1 : 1)).slice(0, filter.limit)
    }
    const found: string[] = []
    const until = filter.finishedBefore === undefined ? '+inf' : `(${filter.finishedBefore}`
    for (let start = 0; found.length < filter.limit; start += page) {
      const range = ['-inf', until, 'LIMIT', start, page] as const
      const [ids = []] = (await this.#server.all([['ZRANGEBYSCORE', `end:${filter.state}`, ...range]])) as string[][]
      const heads = await this.#heads(ids)
      found.push(...ids.filter((id) => isRemoved(heads.get(id), filter)))
      if (ids.length < page) break
    }
    return found.slice(0, filter.limit)
  }

  async #heads(ids: readonly string[]): Promise<ReadonlyMap<string, HeadOf>> {
    const texts = await this.#server.read(ids.map((id) => field('h', id)))
    return new Map(ids.flatMap((id, index) => (texts[index] === null ? [] : [[id, readHead(texts[index] as string)]])))
  }

  async #linked(ids: readonly string[]): Promise<readonly string[]> {
    const places = await this.#server.read(ids.map((id) => field('p', id)))
    return ids.filter((_, index) => places[index] !== null)
  }

  async #tagged(ids: readonly string[], tag: string): Promise<readonly string[]> {
    const bodies = await this.#server.read(ids.map((id) => field('b', id)))
    return ids.filter((_, index) => {
      const body = bodies[index]
      return typeof body === 'string' && tagsOf(bodyIn(body)[0]).includes(tag)
    })
  }

  /** Together they contain every matching job: the jobs of a workflow, a name, a group or a state, or those of all states. */
  async #smallest({ root, job, group, state }: JobFilter): Promise<readonly string[]> {
    const sets = [
      ...(root === undefined ? [] : [`root:${root}`]),
      ...(job === undefined ? [] : [`of:${job}`]),
      ...(group === undefined ? [] : [`og:${group}`]),
      ...(state === undefined ? [] : [listOf(state)]),
    ]
    if (sets.length === 0) return jobStates.map(listOf)
    if (sets.length === 1) return sets
    const sizes = (await this.#server.all(sets.map((key) => ['ZCARD', key] as const))) as number[]
    return [sets[sizes.indexOf(Math.min(...sizes))] as string]
  }

  /** The newest jobs of these sets that come before this one. */
  async #newest(sets: readonly string[], before: string | undefined, size: number): Promise<readonly string[]> {
    const from = before === undefined ? '+' : `(${before}`
    const parts = (await this.#server.all(
      sets.map((key) =>
        key === running ? ['ZRANGE', key, 0, -1] : ['ZRANGE', key, from, '-', 'BYLEX', 'REV', 'LIMIT', 0, size],
      ),
    )) as string[][]
    const ids = parts.flat().filter((id) => before === undefined || id < before)
    return [...new Set(ids)].sort(newestFirst).slice(0, size)
  }
}

function claimed({ envelope: { id, priority }, startedAt, runAt }: StoredJob) {
  return { id, priority, claimedAt: startedAt ?? 0, runAt }
}

/** The jobs that run, by the ends of their leases: they are few, so no list of their own is kept by id. */
const running = 'run'

/** The jobs in a state, by id, or by time where few are in it. */
function listOf(state: JobState): string {
  return state === 'running' ? running : `all:${state}`
}

type HeadOf = ReturnType<typeof readHead>

function newestFirst(a: string, b: string): number {
  return a < b ? 1 : a > b ? -1 : 0
}

function matches(head: HeadOf | undefined, filter: Omit<JobFilter, 'before' | 'limit'>): boolean {
  return head !== undefined && isInPlace(head.state, head, filter)
}

function isRemoved(head: HeadOf | undefined, filter: RemoveFilter): boolean {
  if (head === undefined || !(finalStates as readonly JobState[]).includes(head.state)) return false
  if (filter.exceptJobs?.includes(head.job)) return false
  const isBefore = filter.finishedBefore === undefined || (head.finishedAt ?? 0) < filter.finishedBefore
  return isBefore && matches(head, { state: filter.state, ...narrowing(filter) })
}

function narrowing({ queue, job }: RemoveFilter): Pick<JobFilter, 'queue' | 'job'> {
  return { ...(queue !== undefined && { queue }), ...(job !== undefined && { job }) }
}

/** A client returns a hash as a list or as an object. */
export function* pairsOf(flat: readonly string[] | Readonly<Record<string, string>>): Iterable<readonly [string, string]> {
  if (!Array.isArray(flat)) yield* Object.entries(flat as Readonly<Record<string, string>>)
  else for (let index = 0; index < flat.length; index += 2) yield [flat[index] as string, flat[index + 1] as string]
}

/** A job's record as shown to people: always displayable, with a list of what is wrong with the rest. */
function soundRecordOf(job: StoredJob, isSpoilt: boolean): JobRecord {
  const record = recordOf(job)
  const row = {
    ...record,
    state: jobStates.indexOf(record.state),
    errors: record.errors.length === 0 ? null : JSON.stringify(record.errors),
    created_at: record.createdAt,
    run_at: record.runAt,
    started_at: record.startedAt,
    finished_at: record.finishedAt,
    lease_until: record.leaseExpiresAt,
  }
  const hasIdentity = record.identity !== '' && parseIdentity(record.identity) !== undefined
  const fields = soundFields(row, { hasIdentity, hasLane: record.job !== '' })
  const spoilt = fields.spoilt ?? (isSpoilt ? ['something that is stored of it cannot be read'] : undefined)
  return { ...record, ...fields, ...(spoilt !== undefined && { spoilt }) }
}
