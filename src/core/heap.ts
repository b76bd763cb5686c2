/** An item that knows its place in the one heap that holds it, so that it can be removed from the middle. */
export interface Slotted {
  slot: number
}

/** A binary heap: the first by `precedes` is on top, and any item can be removed in logarithmic time. */
export class Heap<Item extends Slotted> {
  readonly #items: Item[] = []
  readonly #precedes: (a: Item, b: Item) => boolean

  constructor(precedes: (a: Item, b: Item) => boolean) {
    this.#precedes = precedes
  }

  get size(): number {
    return this.#items.length
  }

  /** In no particular order. Changing all items in the same way keeps the heap valid. */
  get items(): readonly Item[] {
    return this.#items
  }

  peek(): Item | undefined {
    return this.#items[0]
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#rise(item, this.#items.length - 1)
  }

  remove(item: Item): void {
    const last = this.#items.pop() as Item
    if (last === item) return
    const hole = item.slot
    if (hole > 0 && this.#precedes(last, this.#at((hole - 1) >> 1))) this.#rise(last, hole)
    else this.#sink(last, hole)
  }

  #rise(item: Item, from: number): void {
    let slot = from
    while (slot > 0) {
      const parent = (slot - 1) >> 1
      const above = this.#at(parent)
      if (!this.#precedes(item, above)) break
      this.#put(above, slot)
      slot = parent
    }
    this.#put(item, slot)
  }

  #sink(item: Item, from: number): void {
    let slot = from
    while (true) {
      const left = 2 * slot + 1
      if (left >= this.#items.length) break
      const right = left + 1
      const child = right < this.#items.length && this.#precedes(this.#at(right), this.#at(left)) ? right : left
      const below = this.#at(child)
      if (!this.#precedes(below, item)) break
      this.#put(below, slot)
      slot = child
    }
    this.#put(item, slot)
  }

  #put(item: Item, slot: number): void {
    this.#items[slot] = item
    item.slot = slot
  }

  #at(slot: number): Item {
    return this.#items[slot] as Item
  }
}
