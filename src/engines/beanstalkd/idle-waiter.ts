import { systemClock, type Timer } from '../../core/time/clock.ts'
import { release, reserve, type ServerJob, statsJob } from './connection/commands.ts'
import type { Session } from './connection/session.ts'
import type { HeldJobs } from './held-jobs.ts'

/** How long one wait blocks before it is repeated, to detect dead connections. */
const blockSeconds = 30
/** How long a job may wait here before it is released, in case the worker is busy by now. */
const patienceMs = 500
/**
 * Maximum number of connections. One that holds a job cannot wait for another, because commands for the first would queue behind
 * the wait.
 */
const mostSessions = 4

interface Wait {
  readonly tubes: ReadonlySet<string>
  session: Session | undefined
}

interface Found extends ServerJob {
  readonly session: Session
  readonly tubes: ReadonlySet<string>
  readonly timer: Timer
}

export interface IdleWaiterDeps {
  readonly open: () => Promise<Session>
  readonly held: HeldJobs
  /** Whether there are watchers to wake. */
  readonly isWatched: () => boolean
  readonly onFound: () => void
}

/**
 * Waits for the next job on a dedicated connection while this program's workers are idle. The server delivers a job to it
 * immediately, including one whose delay has ended; the worker that is woken takes the job from here.
 */
export class IdleWaiter {
  readonly #deps: IdleWaiterDeps
  readonly #sessions = new Set<Session>()
  #wait: Wait | undefined
  #found: Found | undefined
  #isClosed = false

  constructor(deps: IdleWaiterDeps) {
    this.#deps = deps
  }

  get isWaiting(): boolean {
    return this.#wait?.session?.isOpen ?? false
  }

  /** Whether a job put into this tube is delivered to this program, unless other programs wait for it too. */
  waitsFor(tube: string): boolean {
    return this.isWaiting && this.#wait?.tubes.has(tube) === true
  }

  arm(tubes: ReadonlySet<string>): void {
    if (!this.#deps.isWatched() || this.#found !== undefined) return
    if (this.#wait !== undefined) {
      if (areSame(this.#wait.tubes, tubes)) return
      this.#abandon()
    }
    const wait: Wait = { tubes: new Set(tubes), session: undefined }
    this.#wait = wait
    this.#until(wait)
      // Idle workers also poll, which arms this again.
      .catch(() => {})
      .finally(() => {
        if (this.#wait === wait) this.#wait = undefined
      })
  }

  /** Returns the job that has arrived, for a claim from these tubes. */
  take(tubes: ReadonlySet<string>): readonly Found[] {
    const found = this.#found
    if (found === undefined || ![...found.tubes].every((tube) => tubes.has(tube))) return []
    this.#found = undefined
    found.timer.cancel()
    return found.session.isOpen ? [found] : []
  }

  /** Call when there are no watchers left. */
  disarm(): void {
    this.#abandon()
    if (this.#found !== undefined) this.#giveBack(this.#found)
  }

  close(): void {
    this.#isClosed = true
    this.disarm()
    for (const session of this.#sessions) session.destroy()
  }

  async #until(wait: Wait): Promise<void> {
    const session = await this.#freeSession()
    if (session === undefined || this.#wait !== wait) return
    wait.session = session
    const watching = session.watch(wait.tubes)
    while (this.#wait === wait) {
      const [job] = await Promise.all([reserve(session, blockSeconds), watching])
      if (job === null) continue
      const timer = systemClock.timer(patienceMs, () => this.#giveBack(found), { unref: true })
      const found = { ...job, session, tubes: wait.tubes, timer }
      this.#found = found
      this.#wait = undefined
      this.#deps.onFound()
    }
  }

  /** The server redelivers whatever it sends to a connection that closes. */
  #abandon(): void {
    const wait = this.#wait
    this.#wait = undefined
    wait?.session?.destroy()
  }

  #giveBack(found: Found): void {
    if (this.#found !== found) return
    this.#found = undefined
    found.timer.cancel()
    const { session, serverId } = found
    // The session must not wait for another job before this one is released.
    this.#sessions.delete(session)
    const released = async () => {
      const stats = await statsJob(session, serverId)
      if (stats !== null) await release(session, serverId, stats.pri, 0)
    }
    released()
      .catch(() => {})
      .finally(() => session.destroy())
  }

  async #freeSession(): Promise<Session | undefined> {
    for (const session of this.#sessions) {
      if (session.isOpen && this.#deps.held.countOf(session) === 0 && this.#found?.session !== session) return session
    }
    if (this.#sessions.size >= mostSessions) return undefined
    const session = await this.#deps.open()
    this.#sessions.add(session)
    if (this.#isClosed) session.destroy()
    session.onClosed(() => this.#sessions.delete(session))
    return session
  }
}

function areSame(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return some.size === others.size && [...some].every((each) => others.has(each))
}
