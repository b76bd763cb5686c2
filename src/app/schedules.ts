import type { ScheduleRecord, ScheduleStore } from '../backends/schedule-store.ts'
import { TreadleError } from '../core/errors.ts'
import { type Instant, parseInstant } from '../core/instant.ts'
import { refuseUnknownOptions } from '../core/options.ts'
import type { JobDefinition } from '../definition/definition.ts'
import type { Registry } from '../definition/registry.ts'
import type { Run } from '../definition/run.ts'
import { type DryRun, dryRun } from '../worker/dry-run.ts'
import { entryOf, Followed } from '../worker/followed.ts'
import type { Opened } from './opening.ts'

export interface SchedulesDeps {
  readonly opened: () => Promise<Opened>
  readonly registry: Registry
  readonly dispatch: (definition: JobDefinition) => Promise<Run>
}

/** Schedules at run time. What is changed here is kept in the database: it holds for all programs and survives restarts. */
export class Schedules {
  readonly #deps: SchedulesDeps

  constructor(deps: SchedulesDeps) {
    this.#deps = deps
  }

  /** All schedules that the database knows, also those of other programs. */
  async list(): Promise<readonly ScheduleRecord[]> {
    return (await this.#store()).list()
  }

  /** No more runs until `resume`; what runs now goes on. */
  async pause(name: string): Promise<void> {
    const store = await this.#store()
    if (await store.pause(name)) return
    await this.#register(name, store)
    await store.pause(name)
  }

  /** Goes on with the next occurrence; those that fell into the pause are not made up for. */
  async resume(name: string): Promise<void> {
    const store = await this.#store()
    if (!(await store.resume(name))) await this.#register(name, store)
  }

  /** Runs the job of a schedule now, also while it is paused. The schedule itself goes on as it was. */
  async trigger(name: string): Promise<Run> {
    return this.#deps.dispatch(this.#scheduled(name))
  }

  /** Removes a schedule that the code no longer has. */
  async forget(name: string): Promise<void> {
    const { registry } = this.#deps
    if (registry.find(name)?.fields.schedule != null) {
      const message = `The schedule "${name}" is still defined here and would come back. Remove it from the code first, or pause it.`
      throw new TreadleError('SCHEDULE_INVALID', message)
    }
    if (!(await (await this.#store()).remove(name))) throw this.#unknown(name, await this.list())
  }

  /** What a pass would store, now or at another instant, without storing it. */
  async dryRun(options: { readonly at?: Instant } = {}): Promise<readonly DryRun[]> {
    refuseUnknownOptions(options, ['at'], 'dryRun')
    const { settings } = await this.#deps.opened()
    return dryRun({
      definitions: this.#deps.registry.definitions(),
      schedules: await this.#store(),
      environment: settings.environment,
      now: settings.clock.now(),
      at: options.at === undefined ? null : parseInstant(options.at, 'at'),
    })
  }

  /** A schedule that no scheduler has seen yet is known from the code. */
  async #register(name: string, store: ScheduleStore): Promise<void> {
    const definition = this.#deps.registry.find(name)
    const schedule = definition?.fields.schedule ?? null
    if (definition === undefined || schedule === null) throw this.#unknown(name, await store.list())
    await store.register([entryOf(new Followed(definition, schedule))])
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
    const { backend } = await this.#deps.opened()
    if (backend.store !== undefined) return backend.store.schedules
    throw new TreadleError('CAPABILITY_MISSING', `The ${backend.kind} backend can not keep schedules`)
  }
}
