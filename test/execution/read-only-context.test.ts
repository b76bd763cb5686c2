import { describe, expect, it } from 'vitest'
import type { JobContext } from '../../src/definition/context.ts'
import { settlementOf } from '../../src/execution/end/outcome.ts'
import { world } from '../world.ts'

type Writable = Record<string, unknown> & { meta: Record<string, unknown> }

const writes: readonly [string, (context: Writable) => unknown][] = [
  ['the attempt', (context) => (context.attempt = Number.NaN)],
  ['the attempts that there are', (context) => (context.maxAttempts = Number.POSITIVE_INFINITY)],
  ['the payload', (context) => (context.payload = { to: 'mallory' })],
  ['the meta', (context) => (context.meta = {})],
  ['a member of the meta', (context) => (context.meta.tenant = 'other')],
  ['a member of a member of the meta', (context) => ((context.meta.trace as Record<string, unknown>).id = 8)],
  ['something new', (context) => (context.user = 'ada')],
  ['a method', (context) => (context.snooze = () => {})],
  ['a property by its definition', (context) => Object.defineProperty(context, 'attempt', { value: 0 })],
  ['the class', (context) => (Object.getPrototypeOf(context).attempt = 0)],
]

describe('a context', () => {
  it.each(writes)('does not let a handler write %s, and the retries are as they were', async (_, write) => {
    const { jobs, record } = world()
    const refused: unknown[] = []
    let runs = 0
    const run = await jobs
      .define('mail', async (_: object, context) => {
        runs++
        try {
          write(context as never)
        } catch (thrown) {
          refused.push((thrown as Error).constructor)
        }
        throw new Error('no')
      })
      .meta({ tenant: 'acme', trace: { id: 7 } })
      .retries(2)
      .backoff({ strategy: 'none' })
      .dispatch({ to: 'ada' })
    await jobs.run()
    expect([runs, refused]).toEqual([3, [TypeError, TypeError, TypeError]])
    expect(await record(run)).toMatchObject({ state: 'dead', reason: 'exhausted', attempts: 3, payload: '{"to":"ada"}' })
  })

  it('gives hooks what it gave the handler, and what is stored is the text that was sent', async () => {
    const { jobs, record } = world()
    const seen: unknown[] = []
    const note = (payload: object, context: JobContext<never>) => void seen.push(payload === context.payload, payload)
    const run = await jobs
      .define('mail', async (payload: { to: string }) => {
        payload.to = 'mallory'
        throw new Error('no')
      })
      .onError((_, payload, context) => note(payload, context as never))
      .finally((payload, context) => note(payload, context as never))
      .dispatch({ to: 'ada' })
    await jobs.run()
    expect(seen).toEqual([true, { to: 'mallory' }, true, { to: 'mallory' }])
    expect((await record(run)).payload).toBe('{"to":"ada"}')
  })
})

describe('what a handler throws decides nothing that it does not say', () => {
  it('also when it does not let itself be asked what it is', async () => {
    const { jobs, record } = world()
    const hostile = () =>
      new Proxy(new Error('mine'), {
        getPrototypeOf: () => {
          throw hostile()
        },
      })
    let runs = 0
    const run = await jobs
      .define('mail', async () => {
        runs++
        throw hostile()
      })
      .retries(1)
      .backoff({ strategy: 'none' })
      .dispatch()
    const good = await jobs.define('good', async () => 1).dispatch()
    await jobs.run()
    expect([runs, (await record(run)).state, await good.result()]).toEqual([2, 'dead', 1])
  })

  it('a snooze that a handler changed is the one that it asked for', async () => {
    const { jobs, clock, record } = world()
    const run = await jobs
      .define('mail', async (_, { snooze }) => {
        try {
          snooze('1h')
        } catch (signal) {
          Reflect.set(signal as object, 'delayMs', Number.NaN)
          throw signal
        }
      })
      .dispatch()
    const now = clock.now()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'scheduled', runAt: now + 3_600_000, attempts: 0 })
  })

  it.each([
    [Number.NaN, 60_000],
    [Number.NEGATIVE_INFINITY, 0],
    [-5, 0],
    [1.4, 1],
    [Number.POSITIVE_INFINITY, 3_652_500 * 86_400_000],
    ['soon' as never, 60_000],
  ])('a delay of %s is one of %i ms', (delayMs, soundMs) => {
    const keep = { succeeded: 1, dead: 1, cancelled: 1, skipped: 1 }
    for (const outcome of [
      { kind: 'retry', delayMs, error: 'no' },
      { kind: 'snooze', delayMs },
    ] as const) {
      expect(settlementOf(outcome, 't', 1, 0, keep)).toMatchObject({ kind: outcome.kind, delayMs: soundMs })
    }
  })
})
