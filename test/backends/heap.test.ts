import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Heap } from '../../src/core/heap.ts'

interface Item {
  readonly key: number
  slot: number
}

describe('the heap', () => {
  it('gives its members in order, whatever was added and taken out of the middle', () => {
    const commands = fc.array(fc.record({ add: fc.boolean(), key: fc.integer({ min: 0, max: 50 }), which: fc.nat() }), {
      maxLength: 200,
    })
    fc.assert(
      fc.property(commands, (steps) => {
        const heap = new Heap<Item>((a, b) => a.key < b.key)
        const members: Item[] = []
        for (const { add, key, which } of steps) {
          if (add || members.length === 0) {
            const item = { key, slot: -1 }
            members.push(item)
            heap.add(item)
          } else heap.remove(members.splice(which % members.length, 1)[0] as Item)
          expect(heap.size).toBe(members.length)
          expect(heap.peek()?.key).toBe(members.length === 0 ? undefined : Math.min(...members.map((item) => item.key)))
        }
        const drained: number[] = []
        for (let item = heap.peek(); item !== undefined; item = heap.peek()) {
          drained.push(item.key)
          heap.remove(item)
        }
        expect(drained).toEqual(members.map((item) => item.key).sort((a, b) => a - b))
      }),
      { seed: 1 },
    )
  })
})
