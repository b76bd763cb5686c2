import type { Occurrence, ScheduleEntry, ScheduleStore } from '../backends/store.ts'
import { messageOf, TreadleError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { JobDefinition } from '../definition/definition.ts'
import type { Envelope } from '../envelope/envelope.ts'
import type { Schedule } from '../scheduling/schedule.ts'

export interface SchedulePassOptions {
  readonly definitions: () => readonly JobDefinition[]
  readonly schedules: ScheduleStore
  /** Seals the job of one occurrence; its payload is the definition's `args`. */
  readonly envelope: (definition: JobDefinition, at: number) => Promise<Envelope>
  /** Definitions that name environments are followed only where this is one of them. */
  readonly environment: string | null
  readonly logger: Logger
  readonly onError: (error: unknown) => void
  readonly onEnqueued?: (schedule: string, at: number) => void
}

export interface TickReport {
  readonly enqueued: number
  /** When the next occurrence falls due. */
  readonly nextAt: number | null
}

/**
 * Stores the current and the next occurrence of every schedule that is followed here. It remembers what it stored, so that a
 * pass with nothing new does not ask the store.
 */
export class SchedulePass {
  readonly #options: SchedulePassOptions
  readonly #registered = new Map<string, Schedule>()
  /** The occurrences of each schedule that are known to be stored, as far as they still matter. */
  readonly #stored = new Map<string, readonly number[]>()
  /** The occurrence for which each failing definition was reported; null where its schedule itself failed. */
  readonly #reported = new Map<string, number | null>()
  #forgottenAt = Number.NEGATIVE_INFINITY

  constructor(options: SchedulePassOptions) {
    this.#options = options
  }

  async run(nowMs: number): Promise<TickReport> {
    const followed = this.#followed()
    await this.#register(followed)
    const plans = followed.flatMap((one) => this.#plan(one, nowMs) ?? [])
    const enqueued = await this.#enqueue(plans)
    if (followed.length > 0) await this.#forget(nowMs)
    const nextAt = Math.min(...plans.map(({ next }) => next ?? Number.POSITIVE_INFINITY))
    return { enqueued, nextAt: nextAt === Number.POSITIVE_INFINITY ? null : nextAt }
  }

  #followed(): readonly Followed[] {
    const { environment } = this.#options
    return this.#options.definitions().flatMap((definition) => {
      const { schedule, enabled, environments } = definition.fields
      const here = environments.length === 0 || (environment !== null && environments.includes(environment))
      return schedule !== null && enabled && here ? [{ definition, schedule }] : []
    })
  }

  async #register(followed: readonly Followed[]): Promise<void> {
    const changed = followed.filter(({ definition, schedule }) => !isSame(this.#registered.get(definition.job), schedule))
    if (changed.length === 0) return
    await this.#options.schedules.register(changed.map(entryOf))
    for (const { definition, schedule } of changed) {
      this.#registered.set(definition.job, schedule)
      this.#stored.delete(definition.job)
    }
    this.#options.logger.debug(`the scheduler follows ${this.#registered.size} schedules`)
  }

  #plan({ definition, schedule }: Followed, nowMs: number): Plan | undefined {
    try {
      const next = schedule.next(nowMs)
      const instants = [schedule.current(nowMs), next].filter((at) => at !== null)
      return { definition, next, instants }
    } catch (thrown) {
      this.#report(definition, null, thrown)
      return undefined
    }
  }

  async #enqueue(plans: readonly Plan[]): Promise<number> {
    const sealed = await Promise.all(plans.map((plan) => this.#seal(plan)))
    const occurrences = sealed.flat()
    if (occurrences.length === 0) return 0
    const answers = await this.#options.schedules.enqueue(occurrences)
    for (const [index, { definition, instants }] of plans.entries()) {
      const known = [...this.#storedOf(definition), ...(sealed[index] ?? []).map(({ at }) => at)]
      this.#stored.set(
        definition.job,
        instants.filter((at) => known.includes(at)),
      )
    }
    const added = occurrences.filter((_, index) => answers[index])
    for (const { schedule, at } of added) this.#options.onEnqueued?.(schedule, at)
    return added.length
  }

  /** The occurrences of a definition that may not be stored yet. */
  async #seal({ definition, instants }: Plan): Promise<readonly Occurrence[]> {
    const stored = this.#storedOf(definition)
    const occurrences: Occurrence[] = []
    for (const at of instants) {
      if (stored.includes(at)) continue
      try {
        occurrences.push({ schedule: definition.job, at, envelope: await this.#options.envelope(definition, at) })
      } catch (thrown) {
        this.#report(definition, at, thrown)
        return occurrences
      }
    }
    this.#reported.delete(definition.job)
    return occurrences
  }

  #storedOf(definition: JobDefinition): readonly number[] {
    return this.#stored.get(definition.job) ?? []
  }

  /** It is tried again on every pass, and said once for each occurrence. */
  #report(definition: JobDefinition, at: number | null, thrown: unknown): void {
    if (this.#reported.get(definition.job) === at) return
    this.#reported.set(definition.job, at)
    const code = thrown instanceof TreadleError ? thrown.code : 'DEFINITION_INVALID'
    const message = `The scheduled run of "${definition.job}" could not be enqueued: ${messageOf(thrown)}`
    this.#options.onError(new TreadleError(code, message, { cause: thrown }))
  }

  /** Housekeeping: a failure is reported, and is no reason to repeat the pass. */
  async #forget(nowMs: number): Promise<void> {
    // Counted in both directions: a clock that was set back must not put it off.
    if (Math.abs(nowMs - this.#forgottenAt) < forgetEveryMs) return
    this.#forgottenAt = nowMs
    try {
      for (let batch = 0; batch < forgetBatches; batch++) {
        const forgotten = await this.#options.schedules.forget(nowMs - rememberMs, forgetBatchSize)
        if (forgotten < forgetBatchSize) return
      }
    } catch (thrown) {
      this.#options.onError(thrown)
    }
  }
}

interface Followed {
  readonly definition: JobDefinition
  readonly schedule: Schedule
}

interface Plan {
  readonly definition: JobDefinition
  readonly next: number | null
  /** The current occurrence, if there is one, and the next. */
  readonly instants: readonly number[]
}

const rememberMs = 8 * 86_400_000
const forgetEveryMs = 3_600_000
const forgetBatchSize = 1_000
const forgetBatches = 100

function isSame(one: Schedule | undefined, other: Schedule): boolean {
  return one !== undefined && one.expression === other.expression && one.timezone === other.timezone
}

function entryOf({ definition, schedule }: Followed): ScheduleEntry {
  return { name: definition.job, expression: schedule.expression, timezone: schedule.timezone }
}
