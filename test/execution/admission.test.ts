import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { restricted } from '../../src/definition/handler.ts'
import { type Envelope, type Identity, sealEnvelope } from '../../src/envelope/envelope.ts'
import { KeyRing } from '../../src/envelope/keys/key-ring.ts'
import { world } from '../world.ts'

const signingKey = { id: 'k1', secret: 'correct horse battery staple' }
const keys = new KeyRing([signingKey])

describe('an envelope that is not to be trusted', () => {
  const sealed = sealEnvelope(identityOf('a'), '{"to":"ada"}', { createdAt: 0, runAt: 0, uniqueKey: null }, keys)
  const moreRetries = sealEnvelope({ ...identityOf('a'), maxRetries: 99 }, sealed.payload, sealed, keys)

  it.each<[string, Envelope, string]>([
    ['D16: whose payload was changed', { ...sealed, payload: '{"to":"eve"}' }, 'SIGNATURE_INVALID'],
    ['D16: whose identity was changed', { ...sealed, identity: moreRetries.identity }, 'SIGNATURE_INVALID'],
    ['whose priority was changed in the queue only', { ...sealed, priority: 20 }, 'ENVELOPE_MALFORMED'],
    ['whose queue was changed in the queue only', { ...sealed, queue: 'admin' }, 'ENVELOPE_MALFORMED'],
    ['A5: without a signature', { ...sealed, signature: null }, 'SIGNATURE_MISSING'],
    ['signed with an unknown key', { ...sealed, signature: 'k9.AAAA' }, 'SIGNATURE_INVALID'],
    [
      'A5: without a readable identity',
      { ...sealed, identity: '{}', signature: keys.sign('{}', sealed.payload) },
      'ENVELOPE_MALFORMED',
    ],
    [
      'A5: without a readable payload',
      { ...sealed, payload: '{', signature: keys.sign(sealed.identity, '{') },
      'ENVELOPE_MALFORMED',
    ],
  ])('A5, D16: %s is dead as rejected and never runs, retries or not', async (_, envelope, code) => {
    const { jobs, backend, record, names } = world({ signingKey })
    let ran = 0
    jobs
      .define('mail', async () => ran++)
      .onError(() => ran++)
      .finally(() => ran++)
    await backend.send([envelope])
    expect(await jobs.run()).toMatchObject({ dead: 1 })
    expect(await record(envelope)).toMatchObject({ state: 'dead', reason: 'rejected', errors: [{ code }] })
    expect(names()).toEqual(['job:dead'])
    expect(ran).toBe(0)
  })

  it('runs when it is what was sealed', async () => {
    const { jobs, backend, record } = world({ signingKey })
    const got: unknown[] = []
    jobs.define('mail', async (payload) => got.push(payload))
    await backend.send([sealed])
    await jobs.run()
    expect(got).toEqual([{ to: 'ada' }])
    expect(await record(sealed)).toMatchObject({ state: 'succeeded' })
  })

  it('X21: is signed by one key of the ring and opened by another program that has rotated', async () => {
    const before = world({ signingKey })
    const after = before.other({ signingKey: [{ id: 'k2', secret: 'a second secret, just as long' }, signingKey] })
    const run = await before.jobs.define('mail', async () => {}).dispatch({})
    after.jobs.define('mail', async () => 'sent')
    await after.jobs.run()
    expect(await after.record(run)).toMatchObject({ state: 'succeeded', result: '"sent"' })
  })
})

describe('a payload that does not fit the schema', () => {
  it('that the handler’s program has now is dead as rejected, without a run', async () => {
    const sender = world()
    const worker = sender.other()
    const run = await sender.jobs.declare<{ to: number }>('mail').dispatch({ to: 7 }, { maxRetries: 5 })
    let ran = 0
    worker.jobs.define('mail', { input: z.object({ to: z.string() }) }, async () => ran++)
    await worker.jobs.run()
    expect(await worker.record(run)).toMatchObject({
      state: 'dead',
      reason: 'rejected',
      errors: [{ code: 'PAYLOAD_INVALID', message: expect.stringContaining('to: ') }],
    })
    expect(ran).toBe(0)
  })

  it('is transformed for the handler, once, from what was dispatched', async () => {
    const { jobs, backend } = world()
    const got: unknown[] = []
    const input = z.object({ at: z.string().transform((text) => new Date(text)), times: z.number().default(3) })
    const job = jobs.define('remind', { input }, async (payload) => void got.push(payload))
    const run = await job.dispatch({ at: '2026-06-10T09:00:00.000Z' })
    expect((await backend.store.get(run.id))?.payload).toBe('{"at":"2026-06-10T09:00:00.000Z"}')
    await jobs.run()
    expect(got).toEqual([{ at: new Date('2026-06-10T09:00:00Z'), times: 3 }])
  })
})

describe('a handler that reaches out of the program', () => {
  const dangerous = () => Object.assign(async () => 'ran', { [restricted]: true })

  it.each<[string, Record<string, readonly string[]>, string]>([
    ['nothing is listed', {}, 'dead'],
    ['it is listed for its queue', { ops: ['dump'] }, 'succeeded'],
    ['it is listed for another queue', { default: ['dump'] }, 'dead'],
    ['another job is listed for its queue', { ops: ['other'] }, 'dead'],
    ['its queue admits nothing', { ops: [] }, 'dead'],
  ])('A24, X22: when %j, with %j, is %s', async (_, allow, state) => {
    const { jobs, record } = world({ allow })
    const run = await jobs.define('dump', dangerous()).queue('ops').retries(3).dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({
      state,
      ...(state === 'dead' ? { reason: 'rejected', errors: [{ code: 'HANDLER_DENIED' }] } : {}),
    })
  })

  it('X22: cannot be reached by sending the job to a queue that admits more', async () => {
    const { jobs, record } = world({ allow: { ops: ['dump'] } })
    const dump = jobs.define('dump', dangerous()).queue('ops')
    const [there, elsewhere] = [await dump.dispatch(), await dump.dispatch({}, { queue: 'default' })]
    await jobs.run()
    expect([await record(there), await record(elsewhere)].map(({ state }) => state)).toEqual(['succeeded', 'dead'])
  })
})

describe('an allowlist', () => {
  it('A24: admits only the jobs that it names, also those that are harmless', async () => {
    const { jobs, record } = world({ allow: { mail: ['send'] } })
    const send = jobs.define('send', async () => {}).queue('mail')
    const stray = jobs.define('stray', async () => {}).queue('mail')
    const free = jobs.define('free', async () => {})
    const runs = [await send.dispatch(), await stray.dispatch(), await free.dispatch()]
    await jobs.run()
    const records = await Promise.all(runs.map((run) => record(run)))
    expect(records.map(({ state }) => state)).toEqual(['succeeded', 'dead', 'succeeded'])
    expect(records[1]?.errors[0]?.message).toBe('Queue "mail" does not admit "stray". List it in the option allow["mail"].')
  })

  it('is not fooled by queues with the names of what every object has', async () => {
    const { jobs, record } = world()
    const run = await jobs
      .define('send', async () => {})
      .queue('constructor')
      .dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded' })
  })
})

function identityOf(id: string): Identity {
  return {
    id,
    job: 'mail',
    name: 'mail',
    queue: 'default',
    priority: 5,
    maxRetries: 3,
    timeoutMs: null,
    singleInstance: false,
    idempotencyKey: null,
    meta: {},
    occurrence: null,
    repeat: null,
  }
}
