import type { Logger } from '../../core/logger.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { ScheduleStore } from '../../queue/contract/schedule-store.ts'
import type { Followed } from './followed.ts'
import { FollowedSchedules } from './followed-schedules.ts'
import { StoredSchedules } from './stored-schedules.ts'

export interface ScheduleFollowingOptions {
  readonly definitions: () => readonly JobDefinition[]
  readonly schedules: ScheduleStore
  readonly keys: KeyRing | null
  readonly environment: string | null
  readonly logger: Logger
  readonly onError: (error: unknown) => void
}

/** Maximum number of changes per read. */
const changesPerLook = 1_000
/** The store remembers removed schedules for longer than this. */
const longestGapMs = 86_400_000

/** All schedules that a program follows: those defined in its code, and those created at run time for jobs that it knows. */
export class ScheduleFollowing {
  readonly #options: ScheduleFollowingOptions
  readonly #coded: FollowedSchedules
  readonly #stored: StoredSchedules
  #revision: number | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #changes = 0
  #all: { readonly coded: readonly Followed[]; readonly stored: readonly Followed[]; readonly both: readonly Followed[] }

  constructor(options: ScheduleFollowingOptions) {
    this.#options = options
    this.#coded = new FollowedSchedules(options.definitions, options.environment)
    this.#stored = new StoredSchedules(options)
    this.#all = { coded: [], stored: [], both: [] }
  }

  /** Registers new schedules of the code in the store, and reads what others have changed. */
  async look(now: number): Promise<readonly Followed[]> {
    await this.#register()
    await this.#noticeChanges(now)
    return this.#both()
  }

  /** Whether schedules have changed since the last `look`. */
  async isOutdated(): Promise<boolean> {
    return this.#revision !== undefined && (await this.#laterRevision()) !== this.#revision
  }

  /** Grows whenever there may be something to do for schedules that had nothing to do. */
  get changes(): number {
    return this.#changes
  }

  /** Number of schedules as of the last `look`. */
  get count(): number {
    return this.#all.both.length
  }

  hasRepeatOf(job: string): boolean {
    return this.#coded.find(job)?.schedule.kind === 'repeat' || this.#stored.hasRepeatOf(job)
  }

  /** The store has lost the schedule. One defined in code is registered again; any other is gone. */
  lose(followed: Followed): void {
    this.#changes++
    if (followed.stored === null) this.#coded.lose(followed)
    else this.#stored.drop(followed.name)
  }

  async #register(): Promise<void> {
    if (!(await this.#coded.register(this.#options.schedules))) return
    this.#changes++
    const { length } = this.#coded.all
    this.#options.logger.debug(`the scheduler follows ${length} ${length === 1 ? 'schedule' : 'schedules'}`)
  }

  /** Reads and re-evaluates only what has changed since the last look. */
  async #noticeChanges(now: number): Promise<void> {
    const current = await this.#laterRevision()
    if (current === this.#revision && now - this.#lookedAt <= longestGapMs) {
      this.#lookedAt = now
      return
    }
    this.#changes++
    const isContinued = this.#revision !== undefined && current >= this.#revision && now - this.#lookedAt <= longestGapMs
    const changes = isContinued ? await this.#read(this.#revision ?? 0) : await this.#readAll()
    // An older version of the program changed something without recording what.
    if (changes === 0) for (const each of this.#both()) each.uncover()
    this.#lookedAt = now
  }

  /** The revision that was read last, or that of the next change if there is one. */
  async #laterRevision(): Promise<number> {
    return (await this.#options.schedules.changes(this.#revision ?? 0, 1)).revision
  }

  /** After a long sleep, or if the database is a different one: forget schedules that no longer exist. */
  async #readAll(): Promise<number> {
    this.#stored.clear()
    for (const each of this.#coded.all) each.uncover()
    return this.#read(0)
  }

  async #read(since: number): Promise<number> {
    let count = 0
    for (let from = since, hasMore = true; hasMore; ) {
      const changes = await this.#options.schedules.changes(from, changesPerLook)
      this.#stored.apply(changes.changed)
      for (const { name } of changes.changed) this.#coded.find(name)?.uncover()
      count += changes.changed.length
      from = changes.revision
      hasMore = changes.hasMore
      this.#revision = from
    }
    return count
  }

  #both(): readonly Followed[] {
    const [coded, stored] = [this.#coded.current, this.#stored.all]
    if (coded !== this.#all.coded || stored !== this.#all.stored) {
      this.#all = { coded, stored, both: stored.length === 0 ? coded : [...coded, ...stored] }
    }
    return this.#all.both
  }
}
