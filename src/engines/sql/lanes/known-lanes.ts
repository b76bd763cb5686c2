import { type Lane, textOf } from './lane-numbers.ts'

/** How long what was read about a lane is assumed to be still true. */
export const knownForMs = 300_000
/** Maximum number of lanes per generation; the current and the previous generation are kept. */
const mostRemembered = 20_000

interface Remembered {
  readonly lane: Lane
  readonly text: string
  readonly readAt: number
  /** Whether jobs may be stored in it. */
  readonly isOpen: boolean
}

/** Lanes that a program has used recently. However many there are, those not used for long are forgotten. */
export class KnownLanes {
  #recent = new Generation()
  #before = new Generation()

  numbered(number: number, now: number): Lane | undefined {
    return fresh(this.#recent.byNumber.get(number) ?? this.#kept(this.#before.byNumber.get(number)), now)?.lane
  }

  /** Regardless of how long ago it was read. */
  met(number: number): Lane | undefined {
    return (this.#recent.byNumber.get(number) ?? this.#before.byNumber.get(number))?.lane
  }

  /** A lane that jobs may be stored in. */
  open(text: string, now: number): Lane | undefined {
    const found = fresh(this.#recent.byText.get(text) ?? this.#kept(this.#before.byText.get(text)), now)
    return found?.isOpen === true ? found.lane : undefined
  }

  *ofJob(job: string): Iterable<Lane> {
    for (const { lane } of this.#recent.ofJob(job)) yield lane
    for (const { lane } of this.#before.ofJob(job)) if (!this.#recent.byNumber.has(lane.lane)) yield lane
  }

  add(lane: Lane, now: number, isOpen: boolean): void {
    this.#put({ lane, text: textOf(lane), readAt: now, isOpen })
  }

  #kept(found: Remembered | undefined): Remembered | undefined {
    if (found !== undefined) this.#put(found)
    return found
  }

  #put(remembered: Remembered): void {
    if (this.#recent.byNumber.size >= mostRemembered) {
      this.#before = this.#recent
      this.#recent = new Generation()
    }
    this.#recent.put(remembered)
  }
}

/** The clock may have been set back. */
function fresh(found: Remembered | undefined, now: number): Remembered | undefined {
  return found !== undefined && found.readAt <= now && now < found.readAt + knownForMs ? found : undefined
}

class Generation {
  readonly byNumber = new Map<number, Remembered>()
  readonly byText = new Map<string, Remembered>()
  readonly #byJob = new Map<string, Map<number, Remembered>>()

  ofJob(job: string): Iterable<Remembered> {
    return this.#byJob.get(job)?.values() ?? []
  }

  put(remembered: Remembered): void {
    const { lane, text } = remembered
    this.byNumber.set(lane.lane, remembered)
    this.byText.set(text, remembered)
    const ofJob = this.#byJob.get(lane.job) ?? new Map<number, Remembered>()
    this.#byJob.set(lane.job, ofJob.set(lane.lane, remembered))
  }
}
