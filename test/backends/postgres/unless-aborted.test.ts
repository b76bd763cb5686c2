import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { unlessAborted } from '../../../src/engines/postgres/waking/listener.ts'

describe('work that is not waited for when a signal aborts', () => {
  test('leaves nothing behind in the signal when it is done, and when it fails', async () => {
    const { signal } = new AbortController()
    expect(await unlessAborted(Promise.resolve('done'), signal)).toBe('done')
    await expect(unlessAborted(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed')
    await expect.poll(() => getEventListeners(signal, 'abort'), { timeout: 20_000 }).toEqual([])
  })

  test('is given up at once, and at the beginning where the signal has aborted before', async () => {
    const stopping = new AbortController()
    const given = unlessAborted(new Promise(() => {}), stopping.signal)
    stopping.abort(new Error('stopped'))
    await expect(given).rejects.toThrow('stopped')
    await expect(unlessAborted(new Promise(() => {}), stopping.signal)).rejects.toThrow('stopped')
  })
})
