import { type Clock, runningFrom, stopwatch, systemClock, type TimeReading, type Timer } from '../../../core/time/clock.ts'
import type { StandIn, StandInRequest } from '../../../queue/contract/contract.ts'
import type { Engine } from './engine.ts'

/** What the database thread needs to know to stand in for an event loop. */
export interface StandInTerms {
  readonly id: number
  readonly request: StandInRequest
  /** One 64-bit number: the time of the last beat by the program's clock, or 0 while no lease is held. */
  readonly beats: SharedArrayBuffer
}

const resting = 0n

/** The program's side. Beats are written to memory shared by both threads, because a blocked event loop cannot send messages. */
export function standInFor(terms: StandInTerms, clock: Clock, onStop: () => void): StandIn {
  const beats = new BigInt64Array(terms.beats)
  const rest = () => void Atomics.store(beats, 0, resting)
  return {
    beat: () => void Atomics.store(beats, 0, BigInt(Math.floor(clock.now()))),
    rest,
    stop() {
      rest()
      onStop()
    },
  }
}

/** As parts of a lease's duration: how often to check for beats, how long a silence to tolerate, how often to renew in it. */
const looksPerLease = 12
const silenceShare = 1 / 4
const renewalShare = 1 / 3

/** The thread's source of time. Without `readingFrom`, time stands still while the thread waits for the file. */
interface WatchTime extends Pick<Clock, 'timer'> {
  readonly stopwatch: () => () => number
  readonly readingFrom?: (now: number) => TimeReading
}

/** The thread's side: checks for beats, and renews the leases while they are missing. */
export class BeatWatch {
  readonly #request: StandInRequest
  readonly #beats: BigInt64Array
  readonly #engine: Pick<Engine, 'keepLeases'>
  readonly #timer: (delayMs: number, run: () => void) => Timer
  readonly #watch: () => () => number
  readonly #readingFrom: (now: number) => TimeReading
  #next: Timer | undefined
  #last = resting
  #sinceLast: () => number
  #renewedAfterMs: number | undefined

  constructor(
    { request, beats }: StandInTerms,
    engine: Pick<Engine, 'keepLeases'>,
    time: WatchTime = { ...systemClock, stopwatch, readingFrom: runningFrom },
  ) {
    this.#request = request
    this.#beats = new BigInt64Array(beats)
    this.#engine = engine
    this.#timer = (delayMs, run) => time.timer(delayMs, run, { unref: true })
    this.#watch = time.stopwatch
    this.#readingFrom = time.readingFrom ?? ((now) => now)
    this.#sinceLast = this.#watch()
    this.#lookAgain()
  }

  stop(): void {
    this.#next?.cancel()
  }

  #lookAgain(): void {
    this.#next = this.#timer(this.#request.leaseMs / looksPerLease, () => {
      this.#look()
      this.#lookAgain()
    })
  }

  #look(): void {
    const beat = Atomics.load(this.#beats, 0)
    if (beat !== this.#last) {
      this.#last = beat
      this.#sinceLast = this.#watch()
      this.#renewedAfterMs = undefined
    } else if (beat !== resting) {
      this.#stoodStill(Number(beat), this.#sinceLast())
    }
  }

  /** Uses a stopwatch: only the program knows its clock, and that may be set in the meantime. */
  #stoodStill(since: number, stillMs: number): void {
    const { leaseMs } = this.#request
    const dueAfterMs = this.#renewedAfterMs === undefined ? leaseMs * silenceShare : this.#renewedAfterMs + leaseMs * renewalShare
    if (stillMs < dueAfterMs) return
    try {
      this.#engine.keepLeases(this.#request, { since, now: this.#readingFrom(Math.floor(since + stillMs)) })
      this.#renewedAfterMs = stillMs
    } catch {
      // The next check tries again. If it keeps failing, the program finds out from the leases it lost.
    }
  }
}
