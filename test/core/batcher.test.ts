import { describe, expect, it } from 'vitest'
import { Batcher } from '../../src/core/batcher.ts'

describe('natural batching', () => {
  it('sends what is added within one turn together, in order, and answers each with its own', async () => {
    const { batcher, batches } = recorder()
    const answers = await Promise.all([1, 2, 3].map((item) => batcher.add(item)))
    expect(batches).toEqual([[1, 2, 3]])
    expect(answers).toEqual(['1!', '2!', '3!'])
  })

  it('has one batch in flight; what arrives meanwhile leaves together when it returns', async () => {
    const { batcher, batches, release } = held()
    const first = batcher.add(1)
    await turn()
    const later = [batcher.add(2), batcher.add(3)]
    await turn()
    expect(batches).toEqual([[1]])
    expect(batcher.pending).toBe(2)
    release()
    expect(await first).toBe('1!')
    await turn()
    expect(batches).toEqual([[1], [2, 3]])
    release()
    expect(await Promise.all(later)).toEqual(['2!', '3!'])
    expect(batcher.pending).toBe(0)
  })

  it('splits what is more than the largest batch, and keeps the order', async () => {
    const { batcher, batches } = recorder(2)
    const answers = await Promise.all([1, 2, 3, 4, 5].map((item) => batcher.add(item)))
    expect(batches).toEqual([[1, 2], [3, 4], [5]])
    expect(answers).toEqual(['1!', '2!', '3!', '4!', '5!'])
  })

  it('fails only the batch that failed, and goes on', async () => {
    const batcher = new Batcher<number, string>(async (items) => {
      if (items.includes(2)) throw new Error('disk full')
      return items.map((item) => `${item}!`)
    }, 2)
    const settled = await Promise.allSettled([1, 2, 3, 4].map((item) => batcher.add(item)))
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled'])
    expect(await batcher.add(5)).toBe('5!')
  })

  it('tells waiters that are no promises, each its own answer or the failure of its batch', async () => {
    const { batcher } = recorder()
    const told: unknown[] = []
    const waiter = { resolve: (answer: string) => told.push(answer), reject: (thrown: unknown) => told.push(thrown) }
    batcher.addFor(1, waiter)
    batcher.addFor(2, waiter)
    expect(batcher.waiting).toEqual([1, 2])
    expect(await batcher.add(3)).toBe('3!')
    expect(told).toEqual(['1!', '2!'])
    const failing = new Batcher<number, string>(() => Promise.reject('disk full'), 10)
    failing.addFor(4, waiter)
    await failing.idle()
    expect(told).toEqual(['1!', '2!', 'disk full'])
  })

  it('sends the next batch before it tells the waiters of the last one', async () => {
    const order: string[] = []
    const batcher = new Batcher<number, number>(async (items) => {
      order.push(`sent ${items}`)
      await turn()
      return items
    }, 2)
    const waiter = { resolve: (answer: number) => order.push(`told ${answer}`), reject: () => {} }
    for (const item of [1, 2, 3, 4]) batcher.addFor(item, waiter)
    await batcher.idle()
    expect(order).toEqual(['sent 1,2', 'sent 3,4', 'told 1', 'told 2', 'told 3', 'told 4'])
  })

  it('sends together what its waiters add when they are told', async () => {
    const { batcher, batches } = recorder()
    const again = { resolve: (answer: string) => void batcher.add(Number.parseInt(answer, 10) + 10), reject: () => {} }
    for (const item of [1, 2, 3]) batcher.addFor(item, again)
    await batcher.idle()
    expect(batches).toEqual([
      [1, 2, 3],
      [11, 12, 13],
    ])
  })

  it('takes a throw that is no rejection for the failure of its batch', async () => {
    const batcher = new Batcher<number, string>(() => {
      throw new Error('closed')
    }, 10)
    await expect(batcher.add(1)).rejects.toThrow('closed')
    await batcher.idle()
  })

  it('is idle at once when nothing was added, and otherwise when everything is answered', async () => {
    const { batcher, release } = held()
    await batcher.idle()
    const added = [batcher.add(1)]
    await turn()
    added.push(batcher.add(2))
    let isIdle = false
    const idle = batcher.idle().then(() => {
      isIdle = true
    })
    release()
    await added[0]
    await turn()
    expect(isIdle).toBe(false)
    release()
    await idle
    expect(await Promise.all(added)).toEqual(['1!', '2!'])
  })

  it('begins a new batch after it was idle', async () => {
    const { batcher, batches } = recorder()
    await batcher.add(1)
    await batcher.idle()
    await batcher.add(2)
    expect(batches).toEqual([[1], [2]])
  })

  it('answers ten thousand in a few calls', async () => {
    const { batcher, batches } = recorder(1_000)
    const answers = await Promise.all(Array.from({ length: 10_000 }, (_, item) => batcher.add(item)))
    expect(answers[9_999]).toBe('9999!')
    expect(batches).toHaveLength(10)
  })
})

function recorder(maxItems = 100) {
  const batches: (readonly number[])[] = []
  const flush = async (items: readonly number[]) => {
    batches.push(items)
    return items.map((item) => `${item}!`)
  }
  return { batcher: new Batcher<number, string>(flush, maxItems), batches }
}

/** Each batch waits until it is released. */
function held() {
  const batches: (readonly number[])[] = []
  let release = () => {}
  const flush = async (items: readonly number[]) => {
    batches.push(items)
    await new Promise<void>((resolve) => {
      release = resolve
    })
    return items.map((item) => `${item}!`)
  }
  return { batcher: new Batcher<number, string>(flush, 100), batches, release: () => release() }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
