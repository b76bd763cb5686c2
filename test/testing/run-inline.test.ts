import { treadle } from 'treadle'
import { ManualClock, runInline } from 'treadle/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const jobs = treadle('memory:')

describe('a handler that is run inline', () => {
  test('gives its result as JSON, and nothing is put into a queue', async () => {
    const add = jobs.define('add', ({ a, b }: { a: number; b: number }) => ({ sum: a + b, at: new Date(0) }))
    expect(await runInline(add, { a: 1, b: 2 })).toEqual({ sum: 3, at: '1970-01-01T00:00:00.000Z' })
    expect(await (await jobs.store()).list({ limit: 1 })).toEqual([])
  })

  test('may be a class or a definition', async () => {
    class Double {
      handle({ n }: { n: number }) {
        return n * 2
      }
    }
    expect(await runInline(Double, { n: 21 })).toBe(42)
    const add = jobs.define('add-one', ({ n }: { n: number }) => n + 1).toDefinition()
    expect(await runInline(add, { n: 41 })).toBe(42)
    // @ts-expect-error: the class takes a payload
    const wrong = () => runInline(Double)
    expect(wrong).toBeTypeOf('function')
    await expect(runInline('add-one' as never)).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
  })

  test('throws the very error that the handler threw, whether it would be retried or not', async () => {
    const error = new Error('no')
    const failing = jobs.define('failing', () => Promise.reject(error))
    await expect(runInline(failing)).rejects.toBe(error)
    const retried = jobs.define('retried', () => Promise.reject(error)).retries(3)
    await expect(runInline(retried)).rejects.toBe(error)
  })

  test('gets the payload that the schema makes, and a wrong one is refused', async () => {
    const input = z.object({ n: z.string().transform(Number) })
    const parsed = jobs.define('parsed', { input }, ({ n }) => n + 1)
    expect(await runInline(parsed, { n: '41' })).toBe(42)
    await expect(runInline(parsed, { n: 41 } as never)).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
  })

  test('has no options but its own', async () => {
    const plain = jobs.define('plain', () => 1)
    const known = 'queue, meta, retries, maxRetries, timeout, attempt, signal, clock, logger, onProgress'
    await expect(runInline(plain, undefined, { priority: 1 } as never)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `runInline: unknown option "priority" (known: ${known})`,
    })
  })

  test('has its result checked', async () => {
    const wrong = jobs.define('wrong', { output: z.string() }, () => 1 as never)
    await expect(runInline(wrong)).rejects.toMatchObject({ code: 'RESULT_INVALID' })
  })

  test('has its hooks called in order', async () => {
    const said: string[] = []
    const hooked = jobs
      .define('hooked', (fail: boolean) => {
        said.push('handler')
        if (fail) throw new Error('no')
      })
      .before(() => void said.push('before'))
      .onSuccess(() => void said.push('success'))
      .onError(() => void said.push('error'))
      .finally(() => void said.push('finally'))
    await runInline(hooked, false)
    await runInline(hooked, true).catch(() => {})
    expect(said).toEqual(['before', 'handler', 'success', 'finally', 'before', 'handler', 'error', 'finally'])
  })

  test('is told its attempt, its meta and its queue, and its progress is heard', async () => {
    const told = jobs.define('told', async (_: null, { attempt, maxAttempts, meta, queue, progress }) => {
      await progress(0.5)
      return { attempt, maxAttempts, meta, queue }
    })
    const heard: unknown[] = []
    const options = {
      attempt: 2,
      maxRetries: 4,
      meta: { trace: 'x' },
      queue: 'fast',
      onProgress: (value: unknown) => heard.push(value),
    }
    expect(await runInline(told, null, options)).toEqual({ attempt: 2, maxAttempts: 5, meta: { trace: 'x' }, queue: 'fast' })
    expect(heard).toEqual([0.5])
  })

  test('that a filter leaves out, or that snoozes, throws what happened', async () => {
    const filtered = jobs.define('filtered', () => {}).when(() => false)
    await expect(runInline(filtered)).rejects.toThrow('"filtered" is skipped: a when() filter returned false')
    const sleepy = jobs.define('sleepy', (_: null, ctx) => ctx.snooze('5m'))
    await expect(runInline(sleepy, null)).rejects.toThrow('"sleepy" was snoozed for 5m')
  })

  test('is aborted at its timeout on a clock that is moved by hand', async () => {
    const clock = new ManualClock()
    const slow = jobs
      .define(
        'slow',
        (_: null, { signal }) => new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      )
      .timeout('1m')
    const running = runInline(slow, null, { clock })
    const ended = expect(running).rejects.toMatchObject({ code: 'TIMEOUT' })
    await clock.advance(60_000)
    await ended
  })

  test('is cancelled by the caller', async () => {
    const waiting = jobs.define(
      'waiting',
      (_: null, { signal }) => new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    const controller = new AbortController()
    const running = runInline(waiting, null, { signal: controller.signal })
    controller.abort()
    await expect(running).rejects.toMatchObject({ code: 'STOPPED' })
  })

  test('needs no allowlist and no place for an idempotency key', async () => {
    const keyed = jobs.define('keyed', () => 'ran').idempotencyKey('once')
    expect([await runInline(keyed), await runInline(keyed)]).toEqual(['ran', 'ran'])
  })
})
