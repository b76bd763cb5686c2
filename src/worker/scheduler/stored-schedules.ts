import { messageOf, TreadleError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { storedKey } from '../../definition/recurrence.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { openSchedule, readSchedule } from '../../envelope/schedule-seal.ts'
import type { ChangedSchedule, StoredDefinition } from '../../queue/contract/schedule-store.ts'
import { Followed, versionOfText } from './followed.ts'

export interface StoredSchedulesOptions {
  readonly definitions: () => readonly JobDefinition[]
  readonly keys: KeyRing | null
  readonly logger: Logger
  readonly onError: (error: unknown) => void
}

/** The schedules created at run time for jobs that this program knows. Each is verified before it is followed. */
export class StoredSchedules {
  readonly #options: StoredSchedulesOptions
  readonly #definitions = new Map<string, StoredDefinition>()
  readonly #followed = new Map<string, Followed>()
  /** Unknown jobs for which a warning has already been logged. */
  readonly #unknownJobs = new Set<string>()
  #knownJobs: readonly JobDefinition[] | undefined
  #byJob: ReadonlyMap<string, JobDefinition> = new Map()
  #all: readonly Followed[] | undefined = []
  #repeatJobs: ReadonlySet<string> = new Set()
  #reported = 0

  constructor(options: StoredSchedulesOptions) {
    this.#options = options
  }

  get all(): readonly Followed[] {
    this.#followDefinitions()
    if (this.#all === undefined) {
      this.#all = [...this.#followed.values()]
      this.#repeatJobs = new Set(this.#all.flatMap(({ schedule, job }) => (schedule.kind === 'repeat' ? [job] : [])))
    }
    return this.#all
  }

  /** As of the last call of `all`. */
  hasRepeatOf(job: string): boolean {
    return this.#repeatJobs.has(job)
  }

  find(name: string): Followed | undefined {
    return this.#followed.get(name)
  }

  /** Applies changes from the store. */
  apply(changes: readonly ChangedSchedule[]): void {
    this.#followDefinitions()
    this.#reported = 0
    for (const { name, entry } of changes) {
      const definition = storedKey(name) === null ? null : (entry?.definition ?? null)
      if (definition === null) this.drop(name)
      else {
        this.#definitions.set(name, definition)
        this.#follow(name, definition)
      }
    }
    if (this.#reported > mostReported) {
      const message = `${this.#reported - mostReported} more stored schedules are not followed for such reasons`
      this.#options.onError(new TreadleError('SIGNATURE_INVALID', message))
    }
  }

  drop(name: string): void {
    this.#definitions.delete(name)
    this.#leave(name)
  }

  clear(): void {
    this.#definitions.clear()
    this.#followed.clear()
    this.#all = undefined
  }

  /** Follows the schedules of jobs that have been defined since, and updates those of jobs that have been redefined. */
  #followDefinitions(): void {
    const known = this.#options.definitions()
    if (known === this.#knownJobs) return
    const before = this.#byJob
    this.#knownJobs = known
    this.#byJob = new Map(known.map((definition) => [definition.job, definition]))
    for (const [name, definition] of this.#definitions) {
      const job = this.#followed.get(name)?.job ?? readSchedule(definition.text)?.job
      if (job !== undefined && before.get(job) !== this.#byJob.get(job)) this.#follow(name, definition)
    }
  }

  #follow(name: string, sealed: StoredDefinition): void {
    const { keys } = this.#options
    const key = storedKey(name) as string
    try {
      const job = readSchedule(sealed.text)?.job
      const definition = job === undefined ? undefined : this.#byJob.get(job)
      if (job !== undefined && definition === undefined) {
        this.#sayUnknown(job, key)
        this.#leave(name)
        return
      }
      const { recurrence, payload, isSigned } = openSchedule(key, sealed, () => definition?.fields.queue ?? '', keys)
      const stored = { recurrence, isSigned, payload: JSON.parse(payload) as unknown }
      this.#followed.set(name, Followed.ofStored(definition as JobDefinition, versionOfText(sealed.text), stored))
      this.#all = undefined
    } catch (thrown) {
      this.#leave(name)
      this.#report(key, thrown)
    }
  }

  #leave(name: string): void {
    if (this.#followed.delete(name)) this.#all = undefined
  }

  #report(key: string, thrown: unknown): void {
    this.#reported++
    if (this.#reported > mostReported) return
    const code = thrown instanceof TreadleError ? thrown.code : 'SCHEDULE_INVALID'
    const message = `The stored schedule ${JSON.stringify(key)} is not followed: ${messageOf(thrown)}`
    this.#options.onError(new TreadleError(code, message, { cause: thrown }))
  }

  #sayUnknown(job: string, key: string): void {
    if (this.#unknownJobs.has(job)) return
    if (this.#unknownJobs.size < mostUnknown) this.#unknownJobs.add(job)
    this.#options.logger.warn(
      `the stored schedule ${JSON.stringify(key)} is for the job ${JSON.stringify(job)}, which this program does not know: its schedules are left to other programs`,
    )
  }
}

/** Maximum number of problems to report individually per call of `apply`. The others are only counted. */
const mostReported = 10
const mostUnknown = 1_000
