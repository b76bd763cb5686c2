/** A set of job ids, 16 bytes each: a file may have millions of them. */
export class IdSet {
  #slots = new Uint32Array(4 * 1_024)
  #size = 0

  /** False if it was already there. */
  add(id: string): boolean {
    if (this.#size * 4 * 2 > this.#slots.length) this.#grow()
    return this.#insert(wordsOf(id))
  }

  #insert(words: readonly number[]): boolean {
    const slots = this.#slots
    const mask = slots.length / 4 - 1
    for (let place = ((words[3] as number) ^ (words[1] as number)) & mask; ; place = (place + 1) & mask) {
      const at = place * 4
      if (isSame(slots, at, empty)) {
        slots.set(words, at)
        this.#size++
        return true
      }
      if (isSame(slots, at, words)) return false
    }
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Uint32Array(before.length * 2)
    this.#size = 0
    for (let at = 0; at < before.length; at += 4) {
      if (!isSame(before, at, empty)) this.#insert([...before.subarray(at, at + 4)])
    }
  }
}

const empty = [0, 0, 0, 0]

function isSame(slots: Uint32Array, at: number, words: readonly number[]): boolean {
  return slots[at] === words[0] && slots[at + 1] === words[1] && slots[at + 2] === words[2] && slots[at + 3] === words[3]
}

/** No id is all zeros. */
function wordsOf(id: string): readonly number[] {
  const hex = id.replaceAll('-', '')
  return [0, 8, 16, 24].map((from) => Number.parseInt(hex.slice(from, from + 8), 16))
}
