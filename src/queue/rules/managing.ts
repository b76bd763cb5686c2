import type { Clock } from '../../core/time/clock.ts'
import { isSameSeal } from '../../envelope/envelope.ts'
import type { Watchers } from '../claiming/watchers.ts'
import { isFinal } from '../contract/job-state.ts'
import type { AmendAnswer, Amendment, RejectAnswer, Rejection, TreeCancellation } from '../contract/store.ts'
import { amended, type StoredJob, unresulted, withError } from './jobs/job.ts'
import type { Jobs } from './jobs/jobs.ts'
import type { Leases } from './jobs/leases.ts'
import type { Endings } from './workflows/endings.ts'
import type { Linking } from './workflows/linking.ts'
import type { Trees } from './workflows/trees.ts'

export interface ManagingParts {
  readonly clock: Pick<Clock, 'now'>
  readonly jobs: Jobs
  readonly leases: Leases
  readonly trees: Trees
  readonly linking: Linking
  readonly endings: Endings
  readonly watchers: Pick<Watchers, 'notify'>
}

/** Manual changes to jobs: the writing half of `JobStore`, synchronously. */
export class Managing {
  readonly #parts: ManagingParts

  constructor(parts: ManagingParts) {
    this.#parts = parts
  }

  cancel(id: string): 'cancelled' | 'requested' | 'ended' | 'missing' {
    const { jobs, leases, clock, watchers } = this.#parts
    const job = jobs.get(id)
    if (job === undefined) return 'missing'
    if (isFinal(job.state)) return 'ended'
    watchers.notify()
    if (job.state === 'running') {
      leases.requestCancel(job)
      return 'requested'
    }
    jobs.move(job, 'cancelled', { finishedAt: clock.now(), ...unresulted })
    return 'cancelled'
  }

  reschedule(id: string, runAt: number): 'moved' | 'claimed' | 'ended' | 'missing' {
    const { jobs, clock, watchers } = this.#parts
    const job = jobs.get(id)
    if (job === undefined) return 'missing'
    if (isFinal(job.state)) return 'ended'
    if (job.state === 'running') return 'claimed'
    if (job.state === 'blocked') job.runAt = runAt
    else jobs.move(job, runAt > clock.now() ? 'scheduled' : 'ready', { runAt })
    watchers.notify()
    return 'moved'
  }

  amend(amendments: readonly Amendment[]): readonly AmendAnswer[] {
    this.#parts.watchers.notify()
    return amendments.map((amendment) => this.#amendOne(amendment))
  }

  reject(rejections: readonly Rejection[]): readonly RejectAnswer[] {
    this.#parts.watchers.notify()
    return rejections.map((rejection) => this.#rejectOne(rejection))
  }

  retry(ids: readonly string[]): readonly ('requeued' | 'active' | 'conflict' | 'missing')[] {
    const { watchers, linking } = this.#parts
    watchers.notify()
    const answers = ids.map((id) => this.#retryOne(id))
    // Put all of them back before checking what they wait for: they may wait for each other.
    linking.relink(ids.filter((_, index) => answers[index] === 'requeued'))
    return answers
  }

  cancelTree(id: string): TreeCancellation {
    const { trees, jobs, leases, endings, clock, watchers } = this.#parts
    watchers.notify()
    const family = trees.family(id)
    const running = family.filter(({ state }) => state === 'running')
    const waiting = family.filter(({ state }) => state !== 'running' && !isFinal(state))
    for (const job of running) leases.requestCancel(job)
    endings.together(() => {
      for (const job of waiting) jobs.move(job, 'cancelled', { finishedAt: clock.now(), ...unresulted })
    })
    const ended = family.length - running.length - waiting.length
    return { cancelled: waiting.length, requested: running.length, ended }
  }

  #amendOne({ id, expected, envelope, inAnyState, keepsTime, unblocks }: Amendment): AmendAnswer {
    const { jobs, clock } = this.#parts
    const job = jobs.get(id)
    if (job === undefined) return 'missing'
    if (isFinal(job.state) && inAnyState !== true) return 'ended'
    if (job.state === 'running' && inAnyState !== true) return 'claimed'
    if (expected !== null && !isSameSeal(expected, job.envelope)) return 'changed'
    const runAt = keepsTime === true ? job.runAt : envelope.runAt
    const next = amended(job, { ...envelope, runAt })
    const isHeld = job.state === 'blocked' && unblocks !== true
    if (job.state === 'blocked' && !isHeld) this.#unblock(job)
    if (job.state === 'running' || isFinal(job.state)) jobs.amendInPlace(job, next)
    else jobs.amend(job, next, isHeld ? 'blocked' : runAt > clock.now() ? 'scheduled' : 'ready')
    return 'amended'
  }

  /** It is to run, and not to end with what its handler left when it began to wait. */
  #unblock(job: StoredJob): void {
    if (job.links !== null) job.links.ending = null
    Object.assign(job, unresulted)
  }

  #rejectOne({ id, expected, error }: Rejection): RejectAnswer {
    const { jobs, clock } = this.#parts
    const job = jobs.get(id)
    if (job === undefined) return 'missing'
    if (isFinal(job.state)) return 'ended'
    if (job.state === 'running') return 'claimed'
    if (!isSameSeal(expected, job.envelope)) return 'changed'
    jobs.move(job, 'dead', { finishedAt: clock.now(), reason: 'rejected', result: null, errors: withError(job, error) })
    return 'rejected'
  }

  #retryOne(id: string): 'requeued' | 'active' | 'conflict' | 'missing' {
    const { jobs, clock } = this.#parts
    const job = jobs.get(id)
    if (job === undefined) return 'missing'
    if (!isFinal(job.state)) return 'active'
    if ((jobs.uniqueKeys.holderOf(job.keyIndex, clock.now()) ?? id) !== id) return 'conflict'
    jobs.move(job, 'ready', requeued(clock.now()))
    jobs.uniqueKeys.take(job, clock.now())
    return 'requeued'
  }
}

/** A job that is put back has all its attempts again; its errors are kept. */
function requeued(runAt: number): Partial<StoredJob> {
  return {
    runAt,
    attempts: 0,
    rescues: 0,
    cancelRequested: false,
    begun: false,
    ...unresulted,
    progress: null,
    reason: null,
    startedAt: null,
    finishedAt: null,
  }
}
