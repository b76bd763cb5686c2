import type { Clock, Timer } from '../../core/time/clock.ts'
import type { HeldLease } from '../../queue/contract/store.ts'
import { addReport, emptyTally, type RunReport } from '../runs/report.ts'
import { type Buried, nothingBuried } from './casualties.ts'
import { Child } from './child.ts'
import type { SupervisorConfig } from './config.ts'
import type { ChildEvent, Tell } from './events.ts'
import type { ChildFailure, Exit, StartChild } from './messages.ts'
import { newPlaces, type Place } from './place.ts'
import { Refusals, StartRefused } from './refusals.ts'
import { type Replaced, type Replacement, Replacements } from './replacements.ts'

export interface SupervisorDeps {
  readonly clock: Clock
  readonly start: StartChild
  /** The runs of these owners that can only be ended by killing their process. */
  readonly overdue: (owners: readonly string[]) => Promise<readonly HeldLease[]>
  /** Settles or returns the jobs of a process that has ended. */
  readonly bury: (owner: string, overdue: readonly HeldLease[]) => Promise<Buried>
  readonly tell: Tell
}

/** What all processes of a supervisor did together. */
export interface SupervisorReport extends RunReport {
  /** Number of processes that were started. `died` counts those that ended unexpectedly. */
  readonly started: number
  readonly died: number
}

const lookEveryMs = 1_000
/**
 * Keeps a number of worker processes running: restarts processes that die, replaces those that have reached their limits, kills
 * those that cannot end a run by themselves, and shuts all of them down in stages.
 */
export class Supervisor {
  readonly #config: SupervisorConfig
  readonly #deps: SupervisorDeps
  readonly #places: readonly Place[]
  readonly #children = new Set<Child>()
  readonly #replacements: Replacements
  readonly #refusals = new Refusals()
  readonly #total = emptyTally()
  #started = 0
  #died = 0
  #isStopping = false
  #isOver = false
  #refused: ChildFailure | null = null
  #chores = 0
  #nextLook: Timer | undefined
  #looking: Promise<void> = Promise.resolve()
  #onIdle: () => void = () => {}

  constructor(config: SupervisorConfig, deps: SupervisorDeps) {
    this.#config = config
    this.#deps = deps
    this.#places = newPlaces(config.processes)
    this.#replacements = new Replacements({
      replace: (replacement) => this.#replace(replacement),
      isCurrent: (child) => this.#placeOf(child).child === child,
      tell: deps.tell,
    })
  }

  /** Resolves when it was asked to stop and all processes have ended. */
  async run(): Promise<SupervisorReport> {
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
    if (!this.#isStopping) for (const place of this.#places) place.child = this.#start(place)
    this.#lookLater()
    this.#noticeIdle()
    await idle
    this.#isOver = true
    this.#nextLook?.cancel()
    await this.#looking
    if (this.#refused !== null) throw new StartRefused(this.#refused)
    return { ...this.#total, started: this.#started, died: this.#died }
  }

  /** Replaces all processes, one after the other: each new one is ready before its old one is asked to exit. */
  roll(): void {
    if (this.#isStopping) return
    void this.#chore(this.#replacements.roll(this.#places.flatMap(({ child }) => child ?? [])))
  }

  /** Lets all processes finish their running jobs. */
  stop(): void {
    if (this.#isStopping) return
    this.#isStopping = true
    this.#replacements.clear()
    for (const { restart } of this.#places) restart?.cancel()
    for (const child of this.#children) child.drain(this.#config.drainMs)
    this.#noticeIdle()
  }

  /** Tells all processes to abort their running jobs and return them to the queue. */
  abort(): void {
    this.stop()
    for (const child of this.#children) child.abort(this.#config.abortMs)
  }

  /** Kills all processes immediately. */
  kill(): void {
    this.stop()
    for (const child of this.#children) child.kill()
  }

  #start(place: Place): Child {
    const { clock, start, tell } = this.#deps
    const { maxJobs, maxMemoryBytes } = this.#config
    const onOverstayed = (overstayed: Child) => tell('child:overstayed', eventOf(overstayed))
    const child = new Child(place.number, { clock, start, wearLimits: { maxJobs, maxMemoryBytes }, onOverstayed })
    this.#children.add(child)
    this.#started++
    tell('child:started', eventOf(child))
    void child.ready.then((isReady) => {
      if (isReady) this.#noteReady(child)
    })
    void this.#chore(child.ended.then((exit) => this.#noteEnd(place, child, exit)))
    return child
  }

  #noteReady(child: Child): void {
    this.#refusals.reset()
    this.#deps.tell('child:ready', eventOf(child))
  }

  async #noteEnd(place: Place, child: Child, exit: Exit): Promise<void> {
    this.#children.delete(child)
    if (child.report !== null) addReport(this.#total, child.report)
    if (!child.isDraining) this.#died++
    if (child.owner === null && !this.#isStopping) this.#countRefusal(child)
    const restartInMs = this.#vacate(place, child)
    const { retried, dead, returned, poisoned } = await this.#bury(child)
    this.#total.retried += retried
    this.#total.dead += dead + poisoned
    const { isDraining: expected, failure } = child
    this.#deps.tell('child:ended', { ...eventOf(child), ...exit, expected, failure, returned, poisoned, restartInMs })
  }

  /** Returns the delay before another process is started there; null if none will be. */
  #vacate(place: Place, child: Child): number | null {
    if (place.child !== child) return null
    place.child = null
    return this.#isStopping || place.successor !== null ? null : this.#restart(place, child)
  }

  #restart(place: Place, last: Child): number {
    const { clock } = this.#deps
    const delayMs = place.delay.next(clock.now() - last.startedAt, () => clock.random())
    place.restart = clock.timer(delayMs, () => {
      place.child = this.#start(place)
    })
    return delayMs
  }

  /** Does not stop the other processes while one of them works. */
  #countRefusal({ failure }: Child): void {
    if (!this.#refusals.add(failure) || [...this.#children].some(({ isWorking }) => isWorking)) return
    this.#refused = failure
    this.stop()
  }

  async #bury({ owner, overdue }: Child): Promise<Buried> {
    if (owner === null) return nothingBuried
    try {
      return await this.#deps.bury(owner, overdue)
    } catch (error) {
      // Its jobs still return to the queue when their leases expire.
      this.#deps.tell('supervisor:error', { error })
      return nothingBuried
    }
  }

  async #replace({ child, why }: Replacement): Promise<Replaced> {
    const place = this.#placeOf(child)
    this.#deps.tell('child:replaced', { ...eventOf(child), why })
    const successor = this.#start(place)
    place.successor = successor
    const isReady = await successor.ready
    place.successor = null
    if (!isReady) {
      const { clock } = this.#deps
      place.replaceableAt = clock.now() + place.delay.next(0, () => clock.random())
      if (place.child === null && !this.#isStopping) this.#restart(place, successor)
      return { done: false, failure: successor.failure }
    }
    place.child = successor
    child.drain(this.#config.drainMs)
    await child.ended
    return { done: true }
  }

  async #look(): Promise<void> {
    if (!this.#isStopping) this.#replaceWorn()
    const owners = [...this.#children].flatMap(({ owner }) => owner ?? [])
    try {
      this.#killOverdue(await this.#deps.overdue(owners))
    } catch (error) {
      this.#deps.tell('supervisor:error', { error })
    }
    this.#lookLater()
  }

  #lookLater(): void {
    if (this.#isOver) return
    this.#nextLook = this.#deps.clock.timer(lookEveryMs, () => {
      this.#looking = this.#look()
    })
  }

  #replaceWorn(): void {
    const now = this.#deps.clock.now()
    for (const { child, replaceableAt } of this.#places) {
      if (child?.worn && now >= replaceableAt) void this.#chore(this.#replacements.add(child, child.worn))
    }
  }

  #killOverdue(leases: readonly HeldLease[]): void {
    for (const child of this.#children) {
      const overdue = leases.filter(({ owner }) => owner === child.owner)
      const [first] = overdue
      if (first === undefined || child.overdue.length > 0) continue
      child.overdue = overdue
      const { id, job, attempt } = first
      this.#deps.tell('child:overdue', { ...eventOf(child), id, job, attempt })
      child.kill()
    }
  }

  async #chore(work: Promise<void>): Promise<void> {
    this.#chores++
    await work
    this.#chores--
    this.#noticeIdle()
  }

  #noticeIdle(): void {
    if (this.#isStopping && this.#chores === 0) this.#onIdle()
  }

  #placeOf(child: Child): Place {
    return this.#places[child.place - 1] as Place
  }
}

function eventOf({ place, pid }: Child): ChildEvent {
  return { child: place, pid }
}
