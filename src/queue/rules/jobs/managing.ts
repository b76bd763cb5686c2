import type { Clock } from '../../../core/time/clock.ts'
import { isSameSeal } from '../../../envelope/envelope.ts'
import type { Watchers } from '../../backend/watchers.ts'
import { isFinal } from '../../contract/job-state.ts'
import {
  type AmendAnswer,
  type Amendment,
  type Cancellation,
  type CancelOptions,
  type JobChange,
  noCancellation,
  type Rejection,
  type Rescheduling,
} from '../../contract/store.ts'
import type { Endings } from '../workflows/endings.ts'
import type { Linking } from '../workflows/linking.ts'
import type { Trees } from '../workflows/trees.ts'
import { amended, type StoredJob, unresulted, withError } from './job.ts'
import type { Jobs } from './jobs.ts'
import type { Leases } from './leases.ts'

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

  cancel(id: string, { tree = false }: CancelOptions = {}): Cancellation {
    return tree ? this.#cancelTree(id) : this.#cancelOne(id)
  }

  amend(changes: readonly JobChange[]): readonly AmendAnswer[] {
    this.#parts.watchers.notify()
    return changes.map((change) => {
      if ('envelope' in change) return this.#amendOne(change)
      return 'error' in change ? this.#rejectOne(change) : this.#rescheduleOne(change)
    })
  }

  retry(ids: readonly string[]): readonly ('requeued' | 'active' | 'conflict' | 'missing')[] {
    const { watchers, linking } = this.#parts
    watchers.notify()
    const answers = ids.map((id) => this.#retryOne(id))
    // Put all of them back before checking what they wait for: they may wait for each other.
    linking.relink(ids.filter((_, index) => answers[index] === 'requeued'))
    return answers
  }

  /** Who keeps each of these jobs from being put back. */
  holders(ids: readonly string[]): readonly (string | null)[] {
    return ids.map((id) => this.#holderOf(this.#parts.jobs.get(id)))
  }

  #cancelOne(id: string): Cancellation {
    const { jobs, leases, clock, watchers } = this.#parts
    const job = jobs.get(id)
    if (job === undefined) return noCancellation
    if (isFinal(job.state)) return { ...noCancellation, ended: 1 }
    watchers.notify()
    if (job.state === 'running') {
      leases.requestCancel(job)
      return { ...noCancellation, requested: 1 }
    }
    jobs.move(job, 'cancelled', { finishedAt: clock.now(), ...unresulted })
    return { ...noCancellation, cancelled: 1 }
  }

  #cancelTree(id: string): Cancellation {
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
    const next = amended(job.envelope, { ...envelope, runAt })
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

  #rescheduleOne({ id, runAt }: Rescheduling): AmendAnswer {
    const { jobs, clock } = this.#parts
    const job = jobs.get(id)
    if (job === undefined) return 'missing'
    if (isFinal(job.state)) return 'ended'
    if (job.state === 'running') return 'claimed'
    if (job.state === 'blocked') job.runAt = runAt
    else jobs.move(job, runAt > clock.now() ? 'scheduled' : 'ready', { runAt })
    return 'moved'
  }

  #rejectOne({ id, expected, error }: Rejection): AmendAnswer {
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
    if (this.#holderOf(job) !== null) return 'conflict'
    jobs.move(job, 'ready', requeued(clock.now()))
    jobs.uniqueKeys.take(job, clock.now())
    return 'requeued'
  }

  /** The other job that holds the unique key of this one. */
  #holderOf(job: StoredJob | undefined): string | null {
    if (job === undefined) return null
    const { jobs, clock } = this.#parts
    const holder = jobs.uniqueKeys.holderOf(job.keyIndex, clock.now())
    return holder === undefined || holder === job.envelope.id ? null : holder
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
