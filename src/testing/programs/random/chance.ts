import { seededRandom } from '../../manual-clock.ts'

/** Repeatable random choices. */
export class Chance {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  below(count: number): number {
    return Math.floor(this.#random() * count)
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  /** True once in `inTimes` times, on average. */
  once(inTimes: number): boolean {
    return this.below(inTimes) === 0
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }

  some<Item>(most: number, make: () => Item): readonly Item[] {
    return Array.from({ length: this.between(1, most) }, make)
  }

  /** Makes a value once in `inTimes` times, on average; otherwise undefined. */
  rarely<Value>(inTimes: number, make: () => Value): Value | undefined {
    return this.once(inTimes) ? make() : undefined
  }

  /** Chooses a name by weight. */
  weighed<Name extends string>(weights: Readonly<Partial<Record<Name, number>>>): Name {
    const entries = Object.entries(weights) as [Name, number][]
    let left = this.below(entries.reduce((sum, [, weight]) => sum + weight, 0))
    for (const [name, weight] of entries) {
      if (left < weight) return name
      left -= weight
    }
    throw new RangeError('There is nothing to choose from')
  }
}
