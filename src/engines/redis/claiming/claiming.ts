import type { Lease, LeaseBatch, LeaseRequest, ReapReport } from '../../../queue/contract/contract.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { RedisServer } from '../connections/server.ts'
import { ownedJobs } from '../store/owned-jobs.ts'
import { laneOf, readHead, tokenOf } from '../units/head.ts'
import type { LoadedJob, LoadedQueue } from '../units/loaded-queue.ts'
import type { Op } from '../units/places.ts'
import { bodyIn } from '../units/stored-text.ts'
import type { Rule, Units } from '../units/units.ts'
import { candidatesFor, TooFewCandidates } from './candidates.ts'
import { type Outlook, outlookOf } from './outlook.ts'

/** Maximum number of jobs that one commit returns, gives up or makes ready. */
const mostAtOnce = 500

export interface ClaimingParts {
  readonly server: RedisServer
  readonly units: Units
  readonly time: QueueTime
}

interface Given {
  readonly leases: readonly Lease[]
  /** When a rate that held something back allows the next claim. */
  readonly nextTokenAt: number | null
  readonly mayHaveMore: boolean
}

/** Claims jobs, and does what has to precede a claim: returns expired leases, gives up waits and makes due jobs ready. */
export class Claiming {
  readonly #parts: ClaimingParts

  constructor(parts: ClaimingParts) {
    this.#parts = parts
  }

  /** `name` is the prefix of the lease tokens. */
  async lease(request: LeaseRequest, name: string): Promise<LeaseBatch> {
    const { time } = this.#parts
    const outlook = await this.#tidied(request)
    const given = request.limit > 0 ? await this.#claim(request, name) : nothing
    const leases = await this.#withBodies(given.leases)
    const times = [outlook.expiresAt, outlook.dueAt, outlook.givesUpAt, outlook.releasedAt, given.nextTokenAt]
    const known = [...times, ...given.leases.map(({ expiresAt }) => expiresAt)].filter((at) => at !== null)
    const nextAt = given.mayHaveMore ? time.now() : known.length === 0 ? null : Math.min(...known)
    const cancelled = await this.#tokensOf(outlook.stopped)
    return { leases, nextAt: nextAt === null ? null : time.toLocal(nextAt), cancelled }
  }

  async reap(maxRescues: number, deadOwners: readonly string[]): Promise<ReapReport> {
    const { server, time } = this.#parts
    const ids = await ownedJobs(server, deadOwners)
    const total = { returned: 0, poisoned: 0 }
    for (let first = true; ; first = false) {
      const [expired] = (await server.all([['ZRANGEBYSCORE', 'run', '-inf', time.now(), 'LIMIT', 0, mostAtOnce]])) as [string[]]
      const both = first ? [...new Set([...ids, ...expired])] : expired
      if (both.length === 0) return total
      const { returned, poisoned } = await this.#reapThese(both, maxRescues, deadOwners)
      total.returned += returned
      total.poisoned += poisoned
      if (expired.length < mostAtOnce) return total
    }
  }

  #reapThese(ids: readonly string[], maxRescues: number, deadOwners: readonly string[]): Promise<ReapReport> {
    return this.#parts.units.run((queue) => {
      queue.wantEnding(ids)
      for (const id of ids) queue.job(id)
      const { leases } = queue.rules
      leases.expire(deadOwners, queue.now)
      const report = leases.reap(maxRescues, queue.now)
      if (report.returned > 0) queue.wakes = true
      return { answer: report, ops: straysOf(queue, 'run', ids) }
    })
  }

  /** Does everything that has to precede a claim, then returns the outlook. */
  async #tidied(request: LeaseRequest): Promise<Outlook> {
    const { server, time } = this.#parts
    while (true) {
      const now = time.now()
      const outlook = await outlookOf(server, now, request.owner)
      const isDue = (at: number | null) => at !== null && at <= now
      if (![outlook.expiresAt, outlook.dueAt, outlook.givesUpAt].some(isDue)) return outlook
      await this.#tidy(request.maxRescues, now)
    }
  }

  async #tidy(maxRescues: number, now: number): Promise<void> {
    const { server, units } = this.#parts
    const until = ['-inf', now, 'LIMIT', 0, mostAtOnce] as const
    const found = await server.all([
      ['ZRANGEBYSCORE', 'run', ...until],
      ['ZRANGEBYSCORE', 'waits', ...until],
      ['ZRANGEBYSCORE', 'due', ...until],
    ])
    const [run = [], waits = [], due = []] = found as string[][]
    const ids = [...new Set([...run, ...waits, ...due])]
    if (ids.length === 0) return
    await units.run((queue) => {
      queue.wantEnding(ids)
      for (const id of ids) queue.job(id)
      const { leases, endings } = queue.rules
      leases.reap(maxRescues, queue.now)
      endings.giveUp(queue.now)
      leases.promote(queue.now)
      const strays = [...straysOf(queue, 'run', run), ...straysOf(queue, 'waits', waits), ...straysOf(queue, 'due', due)]
      return { answer: undefined, ops: strays }
    })
  }

  async #claim(request: LeaseRequest, name: string): Promise<Given> {
    for (let times = 2; ; times *= 4) {
      try {
        return await this.#claimAmong(request, name, times)
      } catch (thrown) {
        if (!(thrown instanceof TooFewCandidates)) throw thrown
      }
    }
  }

  #claimAmong(request: LeaseRequest, name: string, times: number): Promise<Given> {
    const { server, units, time } = this.#parts
    const prepare = async (): Promise<Rule<Given>> => {
      const outlook = await outlookOf(server, time.now(), request.owner)
      const candidates = await candidatesFor(server, request, outlook, times)
      return (queue) => {
        if (candidates.isEmpty) return { answer: nothing }
        const strays = candidates.adopt(queue, request)
        const { limits, leases: rules } = queue.rules
        const claim = limits.begin(request, outlook.paused, queue.now)
        const leases = rules.claim(request, claim)
        const chosen = leases.map(({ envelope }) => envelope.id)
        if (candidates.areTooFew(chosen, request.limit)) throw new TooFewCandidates()
        // Groups that were out of tokens may have come before others.
        const mayHaveMore = chosen.length < request.limit && (queue.groups.held.length > 0 || strays.length > 0)
        const answer = { leases, nextTokenAt: claim.nextTokenAt, mayHaveMore }
        return { answer, ops: [...strays, ...opsOf(leases, queue.reached)] }
      }
    }
    return units.runPrepared(prepare, name)
  }

  async #withBodies(leases: readonly Lease[]): Promise<readonly Lease[]> {
    if (leases.length === 0) return []
    const { server, time } = this.#parts
    const ids = leases.map(({ envelope }) => envelope.id)
    const [bodies] = (await server.all([['HMGET', 'b', ...ids]])) as (string | null)[][]
    return leases.map((lease, index) => {
      const [identity, payload, signature] = bodyIn(bodies?.[index] ?? null)
      const { id, number, job, queue, priority, singleInstance, createdAt, runAt, uniqueKey, uniqueUntil, group } = lease.envelope
      const routing = { id, number, job, queue, priority, singleInstance, createdAt, runAt, uniqueKey, uniqueUntil, group }
      const envelope = { identity, payload, signature, links: null, ...routing }
      return { ...lease, envelope, expiresAt: time.toLocal(lease.expiresAt) }
    })
  }

  async #tokensOf(ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0) return []
    const [heads] = (await this.#parts.server.all([['HMGET', 'h', ...ids]])) as (string | null)[][]
    return ids.flatMap((id, index) => {
      const text = heads?.[index] ?? null
      if (text === null) return []
      const { state, claim } = readHead(text)
      return state === 'running' ? [tokenOf(claim, id)] : []
    })
  }
}

const nothing: Given = { leases: [], nextTokenAt: null, mayHaveMore: false }

/** Groups that were served take their next turns in that order; limits that were reached are recorded. */
function opsOf(leases: readonly Lease[], reached: ReadonlySet<string>): readonly Op[] {
  const served = leases.flatMap(({ envelope }) => (envelope.group === null ? [] : [['V', laneOf(envelope), envelope.group]]))
  return [...served, ...[...reached].map((scope) => ['X', scope])]
}

/** Indexes by time, with the state and time that a job in each must have. */
const indexes = {
  run: { state: 'running', timeOf: ({ head }: LoadedJob) => head.leaseUntil },
  waits: { state: 'blocked', timeOf: ({ place }: LoadedJob) => place?.givesUpAt ?? 0 },
  due: { state: 'scheduled', timeOf: ({ head }: LoadedJob) => head.runAt },
} as const

/**
 * Corrects entries that are due according to the index but not according to their jobs, or whose jobs do not exist: something
 * else has written to one of the two. Uncorrected, they would come up forever.
 */
function straysOf(queue: LoadedQueue, index: keyof typeof indexes, ids: readonly string[]): readonly Op[] {
  const { state, timeOf } = indexes[index]
  return ids.flatMap((id): Op[] => {
    const loaded = queue.loaded.get(id)
    if (loaded?.head.state !== state) return [['R', index, id]]
    return timeOf(loaded) > queue.now ? [['A', index, timeOf(loaded), id]] : []
  })
}
