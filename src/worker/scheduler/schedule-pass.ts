import { messageOf, TreadleError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { isAmong } from '../../core/text/name-pattern.ts'
import { nextTurn } from '../../core/time/clock.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { Occurrence, ScheduleStanding, ScheduleStore } from '../../queue/contract/schedule-store.ts'
import type { Followed, StoredRun } from './followed.ts'
import {
  type Moment,
  mostLeftOut,
  type OccurrencePlan,
  planFrozen,
  planOccurrences,
  planOnward,
  planUpTo,
} from './occurrence-plan.ts'
import { OccurrenceRetention, type Sweep } from './occurrence-retention.ts'
import { ScheduleFollowing } from './schedule-following.ts'

export interface SchedulePassOptions {
  readonly definitions: () => readonly JobDefinition[]
  readonly schedules: ScheduleStore
  readonly sweep: Sweep
  /** Seals the job of one occurrence. The payload is that of the schedule or the definition's `args`. */
  readonly envelope: SealOccurrence
  /** Keys that verify schedules stored at run time; null if nothing is signed. */
  readonly keys: KeyRing | null
  readonly environment: string | null
  readonly logger: Logger
  readonly onError: (error: unknown) => void
  /** Throws if this scheduler must no longer store anything. */
  readonly beforeStoring?: () => Promise<void> | undefined
  readonly onEnqueued?: (schedule: string, at: number) => void
  readonly onMissed?: (missed: MissedOccurrences) => void
}

export type SealOccurrence = (definition: JobDefinition, at: number, runAt: number, stored: StoredRun | null) => Promise<Envelope>

/** Occurrences that were due while no scheduler was running. */
export interface MissedOccurrences {
  readonly schedule: string
  /** Missed occurrences that run now. */
  readonly madeUp: readonly number[]
  /** Number of missed occurrences that are left out, up to a limit. */
  readonly leftOut: number
}

export interface TickReport {
  readonly enqueued: number
  /** When the next occurrence is due. */
  readonly nextAt: number | null
  /** Number of schedules with an occurrence that could not be stored. The reasons were reported. */
  readonly failed: number
}

/**
 * Stores the current and the next occurrence of every schedule that is followed here, and missed ones as their policies require.
 * It remembers for how long nothing can change, so that a pass costs next to nothing until then.
 */
export class SchedulePass {
  readonly #options: SchedulePassOptions
  readonly #following: ScheduleFollowing
  readonly #forgetting: OccurrenceRetention
  /** The occurrence for which each failing schedule was reported; null if the schedule itself failed. */
  readonly #reported = new Map<string, number | null>()
  readonly #skippedRepeats = new Set<Followed>()
  /** The occurrence of each repeat that has been marked as seen. */
  readonly #seen = new WeakMap<Followed, number>()
  #failures = 0
  #quiet: Quiet | undefined

  constructor(options: SchedulePassOptions) {
    this.#options = options
    this.#following = new ScheduleFollowing(options)
    this.#forgetting = new OccurrenceRetention(options.sweep, options.onError)
  }

  async run(now: number, horizonMs = 0): Promise<TickReport> {
    const followed = await this.#look(now)
    if (followed.length === 0) return { enqueued: 0, nextAt: null, failed: 0 }
    if (this.#isQuiet(followed, now, horizonMs)) {
      await this.#forgetting.run(now)
      return { enqueued: 0, nextAt: earliest(this.#quiet), failed: 0 }
    }
    const open = followed.filter((each) => each.isOpen(now, horizonMs))
    const standings = await this.#standingsOf(open, now)
    const failuresBefore = this.#failures
    let enqueued = 0
    const moment = { now, horizonMs }
    for (const plans of inSteps(open.flatMap((each) => this.#plan(each, standings.get(each.name), moment) ?? []))) {
      enqueued += await this.#follow(plans, now)
      await nextTurn()
    }
    enqueued += await this.#goOnAfterSkipped(moment)
    await this.#options.beforeStoring?.()
    await this.#forgetting.run(now)
    this.#quiet = quietOf(followed, this.#following.changes)
    return { enqueued, nextAt: earliest(this.#quiet), failed: this.#failures - failuresBefore }
  }

  /** Stores only what falls on this instant, to run now: for all schedules, or only for these jobs. */
  async runAt(at: number, now: number, jobs: readonly string[] | null): Promise<TickReport> {
    const failuresBefore = this.#failures
    const meant = (await this.#look(now)).filter(({ job }) => isAmong(jobs, job))
    const plans = meant.map((followed) => ({ followed, plan: planFrozen(followed.schedule, at) }))
    const sealed = await Promise.all(plans.map((each) => this.#seal(each, now)))
    return { enqueued: await this.#enqueue(sealed.flat()), nextAt: null, failed: this.#failures - failuresBefore }
  }

  /** Whether schedules have changed since the last pass. */
  isOutdated(): Promise<boolean> {
    return this.#following.isOutdated()
  }

  /** Whether there was any schedule to follow in the last pass. */
  get isFollowing(): boolean {
    return this.#following.count > 0
  }

  /** Whether the end of a run of this job may continue a repeat. */
  hasRepeatOf(job: string): boolean {
    return this.#following.hasRepeatOf(job)
  }

  /** Whether there is nothing to do for any schedule, without looking at each of them. */
  #isQuiet(followed: readonly Followed[], now: number, horizonMs: number): boolean {
    const quiet = this.#quiet
    if (quiet?.followed !== followed || quiet.changes !== this.#following.changes) return false
    return now >= quiet.from && now < quiet.until && now + horizonMs < quiet.end
  }

  async #look(now: number): Promise<readonly Followed[]> {
    await this.#options.beforeStoring?.()
    return this.#following.look(now)
  }

  /** Asks the store only if this pass cannot simply continue from the last one. */
  async #standingsOf(open: readonly Followed[], now: number): Promise<ReadonlyMap<string, ScheduleStanding>> {
    const unsure = open.filter((each) => mustAsk(each, now))
    if (unsure.length === 0) return new Map()
    const standings = await this.#options.schedules.standings(unsure.map(({ name }) => name))
    const found = new Map(standings.map((standing) => [standing.name, standing]))
    for (const each of unsure) if (!found.has(each.name)) this.#following.lose(each)
    return found
  }

  async #follow(plans: readonly Planned[], now: number): Promise<number> {
    await this.#skipMissed(plans)
    await this.#markSeen(plans)
    const sealed = await Promise.all(plans.map((planned) => this.#seal(planned, now)))
    const enqueued = await this.#enqueue(sealed.flat())
    for (const [index, planned] of plans.entries()) {
      // If sealing failed, the next pass tries again.
      if (sealed[index]?.length === planned.plan.occurrences.length) cover(planned, now)
    }
    return enqueued
  }

  /** A repeat whose missed run was skipped continues as after any other end. */
  async #goOnAfterSkipped(moment: Moment): Promise<number> {
    const skipped = [...this.#skippedRepeats]
    this.#skippedRepeats.clear()
    if (skipped.length === 0) return 0
    const standings = await this.#standingsOf(skipped, moment.now)
    return this.#follow(
      skipped.flatMap((each) => this.#plan(each, standings.get(each.name), moment) ?? []),
      moment.now,
    )
  }

  #plan(followed: Followed, standing: ScheduleStanding | undefined, moment: Moment): Planned | undefined {
    const { schedule, misfire, lastAt } = followed
    try {
      if (standing !== undefined && standing.version !== followed.version) this.#leaveAlone(followed, moment.now)
      else if (standing !== undefined)
        return { followed, plan: planUpTo(lastAt, planOccurrences(schedule, misfire, standing, moment)) }
      else if (followed.isCovered && schedule.kind === 'calendar')
        return { followed, plan: planOnward(schedule, followed.end, moment) }
    } catch (thrown) {
      this.#report(followed, null, thrown)
    }
    // The schedule was removed from the store. The next pass registers it again.
    return undefined
  }

  /**
   * During a deployment, the version registered last counts, and this program's version is outdated. A schedule that was changed
   * at run time since the last look is read in the next pass.
   */
  #leaveAlone(followed: Followed, now: number): void {
    followed.cover(now, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
    if (followed.stored !== null) return
    const message = `the schedule "${followed.name}" was registered by another program with other settings: this one leaves it alone`
    this.#options.logger.warn(message)
  }

  async #skipMissed(plans: readonly Planned[]): Promise<void> {
    for (const { followed, plan } of plans) {
      const { name } = followed
      const { skipBefore } = plan
      const madeUp = plan.occurrences.filter(({ why }) => why === 'missed').map(({ at }) => at)
      const skipped = skipBefore === null ? 0 : await this.#skipUnseen(name, skipBefore)
      if (skipped > 0 && followed.schedule.kind === 'repeat') this.#skippedRepeats.add(followed)
      const leftOut = Math.min(plan.leftOut + skipped, mostLeftOut)
      if (madeUp.length + leftOut > 0) this.#options.onMissed?.({ schedule: name, madeUp, leftOut })
    }
  }

  async #skipUnseen(schedule: string, before: number): Promise<number> {
    await this.#options.beforeStoring?.()
    return this.#options.schedules.skipWaiting({ schedule, before, unseenOnly: true, why: 'missed: no scheduler was running' })
  }

  /** Until the run of a repeat has ended, nothing else in the store shows that a scheduler was there. */
  async #markSeen(plans: readonly Planned[]): Promise<void> {
    const due = plans.flatMap(({ followed, plan }) =>
      plan.due === null || this.#seen.get(followed) === plan.due ? [] : [{ followed, at: plan.due }],
    )
    if (due.length === 0) return
    await this.#options.beforeStoring?.()
    await this.#options.schedules.markSeen(due.map(({ followed, at }) => ({ schedule: followed.name, at })))
    for (const { followed, at } of due) this.#seen.set(followed, at)
  }

  async #enqueue(occurrences: readonly Occurrence[]): Promise<number> {
    if (occurrences.length === 0) return 0
    await this.#options.beforeStoring?.()
    const answers = await this.#options.schedules.enqueue(occurrences)
    const added = occurrences.filter((_, index) => answers[index])
    for (const { schedule, at } of added) this.#options.onEnqueued?.(schedule, at)
    return added.length
  }

  async #seal({ followed, plan }: Planned, now: number): Promise<readonly Occurrence[]> {
    const { definition, name, version, stored } = followed
    const only = { version, ...(stored !== null && { registered: true as const }) }
    const occurrences: Occurrence[] = []
    for (const { at, follows } of plan.occurrences) {
      try {
        const envelope = await this.#options.envelope(definition, at, Math.max(at, now), stored)
        occurrences.push({ schedule: name, at, envelope, ...only, ...(follows !== undefined && { follows }) })
      } catch (thrown) {
        this.#report(followed, at, thrown)
        return occurrences
      }
    }
    this.#reported.delete(name)
    return occurrences
  }

  /** Every pass tries again, but each occurrence is reported only once. */
  #report({ name }: Followed, at: number | null, thrown: unknown): void {
    this.#failures++
    if (this.#reported.get(name) === at) return
    this.#reported.set(name, at)
    const code = thrown instanceof TreadleError ? thrown.code : 'DEFINITION_INVALID'
    const message = `The scheduled run of "${name}" could not be enqueued: ${messageOf(thrown)}`
    this.#options.onError(new TreadleError(code, message, { cause: thrown }))
  }
}

interface Planned {
  readonly followed: Followed
  readonly plan: OccurrencePlan
}

/**
 * A repeat continues wherever its run ended. And nothing counts as missed before it is certain that no other scheduler handled
 * it.
 */
function mustAsk(followed: Followed, now: number): boolean {
  return !followed.isCovered || followed.schedule.kind === 'repeat' || followed.isOutOfStep(now, unusuallyLateMs)
}

function cover({ followed, plan }: Planned, from: number): void {
  const { nextAt, occurrences } = plan
  const until = nextAt ?? Number.POSITIVE_INFINITY
  if (plan.isOver) followed.cover(from, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
  // Until the run of a repeat has ended, its next occurrence is unknown.
  else if (followed.schedule.kind === 'repeat' && nextAt === null) followed.uncover()
  else followed.cover(from, until, occurrences.at(-1)?.at ?? until)
}

/** The period in which there is nothing to do for any of the schedules. */
interface Quiet {
  readonly followed: readonly Followed[]
  readonly changes: number
  readonly from: number
  readonly until: number
  readonly end: number
}

function quietOf(followed: readonly Followed[], changes: number): Quiet {
  let [from, until, end] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const each of followed) {
    if (each.from > from) from = each.from
    if (each.until < until) until = each.until
    if (each.end < end) end = each.end
  }
  return { followed, changes, from, until, end }
}

function earliest(quiet: Quiet | undefined): number | null {
  return quiet === undefined || quiet.until === Number.POSITIVE_INFINITY ? null : quiet.until
}

/** Maximum number of occurrences to store before yielding to the event loop and to other programs. */
const occurrencesPerStep = 2_000

function* inSteps(plans: readonly Planned[]): Iterable<readonly Planned[]> {
  let step: Planned[] = []
  let size = 0
  for (const planned of plans) {
    step.push(planned)
    size += planned.plan.occurrences.length
    if (size < occurrencesPerStep) continue
    yield step
    step = []
    size = 0
  }
  if (step.length > 0) yield step
}

/** If the scheduler wakes up this late, it or its machine was suspended. */
const unusuallyLateMs = 5_000
