/** The label for everything that there is no more room for. */
const other = 'other'

/**
 * Values by queue and job name. Each pair becomes a permanent time series in the metrics system, so a program that makes up names
 * must not fill it. The first `most` pairs have their own value; all others share one.
 */
export class BoundedPairs<Value> {
  readonly #make: (queue: string, job: string) => Value
  readonly #most: number
  readonly #queues = new Map<string, Map<string, Value>>()
  #size = 0
  #rest: Value | undefined

  constructor(most: number, make: (queue: string, job: string) => Value) {
    this.#most = most
    this.#make = make
  }

  of(queue: string, job: string): Value {
    return this.#queues.get(queue)?.get(job) ?? this.#placed(queue, job)
  }

  *entries(): Iterable<readonly [queue: string, job: string, value: Value]> {
    for (const [queue, jobs] of this.#queues) for (const [job, value] of jobs) yield [queue, job, value]
    if (this.#rest !== undefined) yield [other, other, this.#rest]
  }

  #placed(queue: string, job: string): Value {
    if (this.#size >= this.#most || (queue === other && job === other)) {
      this.#rest ??= this.#make(other, other)
      return this.#rest
    }
    const jobs = this.#queues.get(queue) ?? new Map<string, Value>()
    const value = this.#make(queue, job)
    this.#queues.set(queue, jobs.set(job, value))
    this.#size++
    return value
  }
}

/** Sums by name: the first `most` names have their own, the rest share one. A name keeps its place once it has one. */
export class BoundedNames {
  readonly #most: number
  readonly #names = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  of(name: string): string {
    if (this.#names.has(name)) return name
    if (this.#names.size >= this.#most) return other
    this.#names.add(name)
    return name
  }
}
