import { TreadleError } from '../../core/errors.ts'
import { refuseUnknownOptions } from '../../core/options.ts'
import { toJson } from '../../core/text/json.ts'
import { shown } from '../../core/text/shown.ts'
import { type Instant, parseInstant } from '../../core/time/instant.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { noPayload } from '../../definition/dispatching/draft.ts'
import type { Run } from '../../definition/dispatching/run.ts'
import { jobNameProblem } from '../../definition/names.ts'
import { parseRecurrence, scheduleOf, storedKey, storedName } from '../../definition/recurrence.ts'
import type { Registry } from '../../definition/registry.ts'
import { sealSchedule } from '../../envelope/schedule-seal.ts'
import { coordinationMissing } from '../../queue/backend/missing-coordination.ts'
import type { ScheduleRecord, ScheduleStore } from '../../queue/contract/schedule-store.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import { type DryRun, dryRun } from '../../worker/scheduler/dry-run.ts'
import { entryOf, Followed, versionOfText } from '../../worker/scheduler/followed.ts'
import type { Opened } from '../config/opening.ts'
import {
  type ListedSchedule,
  listedSchedule,
  type StoredSchedule,
  type StoredScheduleDeps,
  type StoredScheduleOptions,
  storedSchedule,
} from './stored-schedule.ts'

export interface SchedulesDeps {
  readonly opened: () => Promise<Opened>
  readonly registry: Registry
  readonly dispatch: (definition: JobDefinition, payload: unknown) => Promise<Run>
  /** Whether this backend is the home of a job. */
  readonly isHome: (definition: JobDefinition) => boolean
}

/** Which schedules to list. */
export interface ScheduleListOptions {
  /** True lists only schedules created at run time, false only those defined in code. */
  readonly stored?: boolean
  /** Only schedules whose key or name starts with this, such as `acme/`. */
  readonly prefix?: string
}

/** Manages schedules at run time. Changes are stored in the database, so they apply to all programs and survive restarts. */
export class Schedules {
  readonly #deps: SchedulesDeps

  constructor(deps: SchedulesDeps) {
    this.#deps = deps
  }

  /**
   * Creates or updates the schedule with this key. All schedulers pick it up within a second. This program need not know the job;
   * if it does, the payload is validated like that of a dispatch.
   */
  async upsert<Input = unknown>(key: string, options: StoredScheduleOptions<Input>): Promise<StoredSchedule> {
    refuseUnknownOptions(options, optionNames, `The schedule ${JSON.stringify(key)}`)
    const opened = await this.#deps.opened()
    const { keys, settings } = opened
    const store = storeOf(opened)
    const recurrence = parseRecurrence(key, options, settings.timezone)
    await this.#refuseClash(key, store)
    const { job, definition } = this.#jobOf(key, options.job)
    const payload = await this.#payloadOf(job, definition, options.payload, opened)
    const isEncrypted = definition?.fields.encrypt ?? settings.encrypt
    const queue = definition?.fields.queue ?? defaultQueue
    const sealed = sealSchedule({ job, recurrence, payload }, queue, keys, isEncrypted)
    const { expression, timezone } = scheduleOf(recurrence)
    const name = storedName(key)
    await store.register([{ name, expression, timezone, version: versionOfText(sealed.text), definition: sealed }])
    if (definition === undefined) {
      const message = `the schedule ${JSON.stringify(key)} is for the job ${JSON.stringify(job)}, which this program does not know: it runs where that job is defined`
      settings.logger.warn(message)
    }
    return this.#read(key, store, opened)
  }

  /** The schedule with this key that was created at run time; null if there is none. */
  async get(key: string): Promise<StoredSchedule | null> {
    refuseNoName(key)
    const opened = await this.#deps.opened()
    const [record] = await storeOf(opened).list({ names: [storedNameOf(key)] })
    return record?.definition == null ? null : storedSchedule(record, record.definition, this.#reading(opened))
  }

  /** All schedules in the database, including those of other programs: defined in code or created at run time. */
  async list(options: ScheduleListOptions = {}): Promise<readonly ListedSchedule[]> {
    refuseUnknownOptions(options, ['stored', 'prefix'], 'list')
    const { stored, prefix = '' } = options
    const opened = await this.#deps.opened()
    const store = storeOf(opened)
    const coded = stored === true ? [] : await store.list(prefix === '' ? {} : { prefix })
    const made = stored === false || (prefix === '' && stored !== true) ? [] : await store.list({ prefix: storedName(prefix) })
    const isMeant = ({ definition }: ScheduleRecord) => stored === undefined || (definition !== null) === stored
    const records = new Map([...coded, ...made].filter(isMeant).map((record) => [record.name, record]))
    const reading = this.#reading(opened)
    return [...records.values()].map((record) => listedSchedule(record, reading))
  }

  /** Stops further runs until `resume`. A run in progress continues. */
  async pause(name: string): Promise<void> {
    refuseNoName(name)
    const store = await this.#store()
    if ((await store.change(name, 'pause')) || (await this.#changeStored(name, (stored) => store.change(stored, 'pause')))) return
    await this.#register(name, store)
    await store.change(name, 'pause')
  }

  /** Continues with the next occurrence. Occurrences during the pause are not caught up. */
  async resume(name: string): Promise<void> {
    refuseNoName(name)
    const store = await this.#store()
    if ((await store.change(name, 'resume')) || (await this.#changeStored(name, (stored) => store.change(stored, 'resume'))))
      return
    await this.#register(name, store)
  }

  /**
   * Deletes a schedule that was created at run time. A run in progress continues. Returns false if there is no schedule with this
   * key.
   */
  async delete(key: string): Promise<boolean> {
    refuseNoName(key)
    return (await this.#store()).change(storedNameOf(key), 'remove')
  }

  /** Runs the job of a schedule now, even while the schedule is paused. The schedule itself is not affected. */
  async runNow(name: string): Promise<Run> {
    refuseNoName(name)
    const { registry, dispatch } = this.#deps
    const isCoded = registry.find(name)?.fields.schedule != null
    const stored = isCoded ? null : await this.#readable(name)
    if (stored === null) return dispatch(this.#scheduled(name), noPayload)
    const problem = stored.problem ?? (await this.#unsignedProblem(stored.key))
    if (problem === null) return dispatch(registry.get(stored.job), stored.payload)
    throw new TreadleError('SCHEDULE_INVALID', `The schedule ${JSON.stringify(stored.key)} cannot be run: ${problem}`)
  }

  /** Alias of `runNow`. */
  trigger(name: string): Promise<Run> {
    return this.runNow(name)
  }

  /** Removes a schedule that is no longer defined in code. */
  async forget(name: string): Promise<void> {
    refuseNoName(name)
    const { registry } = this.#deps
    if (registry.find(name)?.fields.schedule != null) {
      const message = `The schedule "${name}" is still defined here and would come back. Remove it from the code first, or pause it.`
      throw new TreadleError('SCHEDULE_INVALID', message)
    }
    if ((await this.#readable(name)) !== null) {
      const message = `The schedule "${name}" is stored in the queue, not in the code: remove it with schedules.delete().`
      throw new TreadleError('SCHEDULE_INVALID', message)
    }
    const store = await this.#store()
    if (!(await store.change(name, 'remove'))) throw this.#unknown(name, await store.list())
  }

  /** What the scheduler would store now, or at the given time, without storing it. */
  async dryRun(options: { readonly at?: Instant } = {}): Promise<readonly DryRun[]> {
    refuseUnknownOptions(options, ['at'], 'dryRun')
    const opened = await this.#deps.opened()
    const { settings, keys } = opened
    return dryRun({
      definitions: this.#deps.registry.definitions().filter(this.#deps.isHome),
      schedules: storeOf(opened),
      keys,
      environment: settings.environment,
      now: settings.clock.now(),
      at: options.at === undefined ? null : parseInstant(options.at, 'at'),
    })
  }

  /** A queue that cannot store schedules has none that were created at run time. */
  async #readable(name: string): Promise<StoredSchedule | null> {
    const { backend } = await this.#deps.opened()
    return backend.store === undefined ? null : this.get(name)
  }

  /** Its job would be signed. Only a signed schedule may cause that, even while unsigned ones are accepted. */
  async #unsignedProblem(key: string): Promise<string | null> {
    const opened = await this.#deps.opened()
    const [record] = await storeOf(opened).list({ names: [storedName(key)] })
    return opened.keys === null || record?.definition?.signature !== null
      ? null
      : 'it is not signed. Create it again, which signs it'
  }

  /**
   * A schedule defined in code takes precedence over one created at run time, which can also be named by its key with the prefix
   * `stored:`.
   */
  async #changeStored(name: string, change: (name: string) => Promise<boolean>): Promise<boolean> {
    if (this.#deps.registry.find(name)?.fields.schedule != null) return false
    return change(storedNameOf(name))
  }

  async #refuseClash(key: string, store: ScheduleStore): Promise<void> {
    const isKnown = this.#deps.registry.find(key)?.fields.schedule != null
    if (!isKnown && (await store.standings([key])).length === 0) return
    const message = `${JSON.stringify(key)} is the name of a schedule of the code: give this one another key. One that is no longer in the code can be removed with forget()`
    throw new TreadleError('SCHEDULE_INVALID', message)
  }

  #jobOf(
    key: string,
    given: StoredScheduleOptions<never>['job'],
  ): { readonly job: string; readonly definition: JobDefinition | undefined } {
    const { registry, isHome } = this.#deps
    const job = registry.nameOf(given)
    const problem = jobNameProblem(job, 'job')
    if (problem !== undefined) throw new TreadleError('SCHEDULE_INVALID', `Schedule ${JSON.stringify(key)}: ${problem}`)
    const definition = registry.find(job as string)
    if (definition === undefined || isHome(definition)) return { job: job as string, definition }
    const home = JSON.stringify(definition.fields.backend ?? 'default')
    const message = `Schedule ${JSON.stringify(key)}: the job "${definition.job}" is kept in the backend ${home}: use (await jobs.backend(${home})).schedules`
    throw new TreadleError('SCHEDULE_INVALID', message)
  }

  /** The payload of a job that is unknown here cannot be validated. */
  async #payloadOf(
    job: string,
    definition: JobDefinition | undefined,
    payload: unknown,
    { settings, sending }: Opened,
  ): Promise<string> {
    if (definition !== undefined) return sending.scheduledPayload(definition, payload === undefined ? noPayload : payload)
    return toJson(payload ?? null, { what: `payload of "${job}"`, maxBytes: settings.maxPayloadBytes })
  }

  async #read(key: string, store: ScheduleStore, opened: Opened): Promise<StoredSchedule> {
    const [record] = await store.list({ names: [storedName(key)] })
    if (record?.definition == null)
      throw new TreadleError('SCHEDULE_UNKNOWN', `The schedule ${JSON.stringify(key)} was deleted at once`)
    return storedSchedule(record, record.definition, this.#reading(opened))
  }

  #reading({ keys, backend, settings }: Opened): StoredScheduleDeps {
    return { keys, find: (job) => this.#deps.registry.find(job), now: queueClock(backend, settings.clock).now() }
  }

  /** Registers a schedule that is defined in code but that no scheduler has seen yet. */
  async #register(name: string, store: ScheduleStore): Promise<void> {
    const definition = this.#deps.registry.find(name)
    const schedule = definition?.fields.schedule ?? null
    if (definition === undefined || schedule === null) throw this.#unknown(name, await store.list())
    await store.register([entryOf(Followed.ofCode(definition, schedule))])
  }

  #scheduled(name: string): JobDefinition {
    const definition = this.#deps.registry.find(name)
    if (definition?.fields.schedule != null) return definition
    if (definition === undefined) throw this.#unknown(name, [])
    const message = `The job "${name}" has no schedule. Give it one, such as daily(), or dispatch it.`
    throw new TreadleError('SCHEDULE_UNKNOWN', message)
  }

  #unknown(name: string, records: readonly ScheduleRecord[]): TreadleError {
    const defined = this.#deps.registry.definitions().filter(({ fields }) => fields.schedule !== null)
    const names = new Set([...defined.map(({ job }) => job), ...records.map((record) => record.name)])
    return new TreadleError('SCHEDULE_UNKNOWN', `There is no schedule "${name}". Known: ${[...names].join(', ') || 'none'}`)
  }

  async #store(): Promise<ScheduleStore> {
    return storeOf(await this.#deps.opened())
  }
}

/** A record, so that the compiler requires an entry for every option. */
const options: Readonly<Record<keyof StoredScheduleOptions, true>> = {
  job: true,
  payload: true,
  cron: true,
  every: true,
  repeat: true,
  timezone: true,
  until: true,
  misfire: true,
  overlap: true,
}
const optionNames = Object.keys(options)

const defaultQueue = 'default'

function refuseNoName(name: unknown): void {
  if (typeof name === 'string') return
  throw new TreadleError('SCHEDULE_INVALID', `A schedule is named by its key, such as 'digest', got ${shown(name)}`)
}

/** Accepts the key of a schedule or the name that lists show. */
function storedNameOf(key: string): string {
  return storedKey(key) === null ? storedName(key) : key
}

function storeOf({ backend }: Opened): ScheduleStore {
  if (backend.store !== undefined) return backend.store.schedules
  throw coordinationMissing(`The ${backend.kind} backend cannot keep schedules`)
}
