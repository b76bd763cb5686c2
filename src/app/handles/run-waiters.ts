import type { Clock } from '../../core/time/clock.ts'
import type { RunEvent } from '../../execution/events.ts'
import type { JobEvents } from '../../execution/job-events.ts'

const ends = ['job:succeeded', 'job:dead', 'job:cancelled', 'job:skipped'] as const

/** Lets callers wait for a job to end. Jobs that this process runs itself wake them immediately. */
export class RunWaiters {
  readonly #events: JobEvents
  readonly #waiting = new Map<string, Set<() => void>>()
  #stopListening: (() => void)[] = []

  constructor(events: JobEvents) {
    this.#events = events
  }

  ended(id: string, clock: Clock, longestMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        timer.cancel()
        signal?.removeEventListener('abort', end)
        this.#remove(id, end)
        resolve()
      }
      const timer = clock.timer(longestMs, end)
      signal?.addEventListener('abort', end)
      this.#add(id, end)
    })
  }

  #add(id: string, end: () => void): void {
    // Listen only while there are waiters. Otherwise workers need not create the events.
    if (this.#waiting.size === 0)
      this.#stopListening = ends.map((name) => this.#events.follow(name, (event) => this.#settle(event)))
    this.#waiting.set(id, (this.#waiting.get(id) ?? new Set()).add(end))
  }

  #remove(id: string, end: () => void): void {
    const waiting = this.#waiting.get(id)
    waiting?.delete(end)
    if (waiting?.size === 0) this.#waiting.delete(id)
    if (this.#waiting.size === 0) for (const stop of this.#stopListening.splice(0)) stop()
  }

  #settle({ id }: RunEvent): void {
    for (const end of [...(this.#waiting.get(id) ?? [])]) end()
  }
}
