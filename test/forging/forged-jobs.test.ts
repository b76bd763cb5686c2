import { describe, expect, test } from 'vitest'
import { until } from '../world.ts'
import { type AttackedQueue, attackedQueue, engines, field } from './attacked-queue.ts'

const forged = '{"to":"mallory"}'
const genuine = { to: 'ada' }

/** The forged payload must not be handed out to anybody, in any state that the queue can be brought to. */
async function expectNothingForged(queue: AttackedQueue): Promise<void> {
  await queue.clock.advance(86_400_000)
  const seen: unknown[] = []
  for (const job of ['mail', 'renamed', 'parent']) queue.jobs.define(job, async (payload: unknown) => void seen.push(payload))
  await queue.jobs.run()
  expect(seen).not.toContainEqual(JSON.parse(forged))
}

describe.each(engines)('what somebody without the key writes into %s', (engine) => {
  describe('over the Bedrock protocol', () => {
    test('a foreign job that says that it is a held child is neither released nor signed by the sweep', async () => {
      const queue = await attackedQueue(engine)
      const { ask } = await queue.bedrock()
      await ask('CreateJob', { name: 'mail', data: genuine, firstRun: '2027-01-01 00:00:00' })
      const id = await queue.idOf(1)
      await queue.forgeIdentity(id, { [field.meta]: { bedrock: { heldUntil: 1, parent: 'nobody' } } })
      await queue.forge(id, { payload: forged, signature: null })
      await queue.clock.advance(5_000)
      await until(async () => (await queue.record({ id })).state !== 'scheduled')
      await queue.expectRejected(id)
      await expectNothingForged(queue)
    })

    test('a held child that was changed is rejected when its parent waits for it, and the parent goes on', async () => {
      const queue = await attackedQueue(engine)
      const { ask } = await queue.bedrock()
      await ask('CreateJob', { name: 'parent' })
      await ask('GetJob', { name: 'parent' })
      await ask('CreateJob', { name: 'mail', data: genuine, parentJobID: 1 })
      const id = await queue.idOf(2)
      await queue.forge(id, { payload: forged })
      expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
      await queue.expectRejected(id)
      expect((await ask('GetJob', { name: 'mail' })).status).toBe('404 No job found')
      const again = await ask('GetJob', { name: 'parent' })
      expect(again.json).toMatchObject({ jobID: 1, failedChildJobs: [{ jobID: 2, data: {} }] })
      await expectNothingForged(queue)
    })

    test.each(['FailJob', 'CancelJob'])('a child that ended by %s is not handed to another parent', async (verb) => {
      const queue = await attackedQueue(engine)
      const { ask } = await queue.bedrock()
      for (const name of ['alice', 'bob']) await ask('CreateJob', { name })
      for (const [name, parentJobID] of [
        ['alice', 1],
        ['bob', 2],
      ] as const) {
        await ask('GetJob', { name })
        await ask('CreateJob', { name: `${name}-child`, data: { of: name }, parentJobID })
      }
      await ask('FinishJob', { jobID: 1 })
      await ask('FinishJob', { jobID: 2 })
      for (const [jobID, name] of [
        [3, 'alice-child'],
        [4, 'bob-child'],
      ] as const) {
        if (verb === 'FailJob') await ask('GetJob', { name })
        await ask(verb, { jobID })
      }
      const [alice, hers, his] = await Promise.all([1, 3, 4].map((number) => queue.idOf(number)))
      await queue.attacker.forgeEdges({ target: hers as string }, { target: his as string })
      expect((await ask('GetJob', { name: 'alice' })).body).toBe('{}')
      expect(await queue.record({ id: alice as string })).toMatchObject({ state: 'dead', reason: 'rejected' })
      expect((await ask('GetJob', { name: 'bob' })).status).toBe('200 OK')
    })

    test('a parent that was changed is not told to its child', async () => {
      const queue = await attackedQueue(engine)
      const { ask } = await queue.bedrock()
      await ask('CreateJob', { name: 'parent' })
      await ask('GetJob', { name: 'parent' })
      await ask('CreateJob', { name: 'mail', data: genuine, parentJobID: 1 })
      await ask('FinishJob', { jobID: 1 })
      await queue.forge(await queue.idOf(1), { payload: forged })
      expect((await ask('GetJob', { name: 'mail' })).json).toMatchObject({ jobID: 2, parentJobID: 1, parentData: {} })
    })

    test.each([
      ['UpdateJob', { data: { more: 1 } }],
      ['UpdateJob of another time', { data: { more: 1 }, nextRun: '2026-01-01 00:00:00' }],
      ['RequeueJobs', { jobIDs: '1' }],
      ['RequeueJobs under another name', { jobIDs: '1', name: 'renamed' }],
    ])('%s of a waiting job that was changed ends it', async (verb, headers) => {
      const queue = await attackedQueue(engine)
      const { ask } = await queue.bedrock()
      await ask('CreateJob', { name: 'mail', data: genuine, firstRun: '2027-01-01 00:00:00' })
      const id = await queue.idOf(1)
      await queue.forge(id, { payload: forged })
      await ask(verb.split(' ')[0] as string, { jobID: 1, ...headers })
      await queue.expectRejected(id)
      await expectNothingForged(queue)
    })

    test('RequeueJobs leaves a job alone that was refused, and puts the others back', async () => {
      const queue = await attackedQueue(engine)
      const { ask } = await queue.bedrock()
      await ask('CreateJobs', { jobs: [1, 2].map(() => ({ name: 'mail', data: genuine })) })
      const id = await queue.idOf(1)
      await ask('GetJobs', { name: 'mail', numResults: 2 })
      for (const jobID of [1, 2]) await ask('FailJob', { jobID })
      await queue.forge(id, { payload: forged })
      expect((await ask('RequeueJobs', { jobIDs: '1,2' })).status).toBe('200 OK')
      expect((await ask('QueryJob', { jobID: 1 })).json.state).toBe('FAILED')
      expect(await queue.isSigned(id)).toBe(false)
      expect((await ask('GetJobs', { name: 'mail', numResults: 2 })).json.jobs).toMatchObject([{ jobID: 2, data: genuine }])
    })

    test('GetJob hands out nothing of it, and RequeueJobs does not sign what was refused', async () => {
      const queue = await attackedQueue(engine)
      const { ask } = await queue.bedrock()
      await ask('CreateJob', { name: 'mail', data: genuine })
      const id = await queue.idOf(1)
      await queue.forge(id, { payload: forged })
      expect((await ask('GetJob', { name: 'mail' })).status).toBe('404 No job found')
      await queue.expectRejected(id)
      await ask('RequeueJobs', { jobIDs: '1' })
      await queue.expectRejected(id)
      await expectNothingForged(queue)
    })

    test.each([
      ['FinishJob', {}],
      ['FinishJob', { data: { more: 1 } }],
      ['RetryJob', { delay: 0 }],
      ['RetryJob', { data: { more: 1 }, name: 'renamed' }],
      ['FailJob', { data: { more: 1 } }],
      ['UpdateJob', { data: { more: 1 } }],
      ['RequeueJobs', { jobIDs: '1' }],
    ])('%s %j of a repeating job that was changed while it ran ends it', async (verb, headers) => {
      const queue = await attackedQueue(engine)
      const { ask } = await queue.bedrock()
      await ask('CreateJob', { name: 'mail', data: genuine, repeat: 'FINISHED, +1 HOUR' })
      const id = await queue.idOf(1)
      await ask('GetJob', { name: 'mail' })
      await queue.forge(id, { payload: forged })
      await ask(verb, { jobID: 1, ...headers })
      await queue.expectRejected(id)
      await expectNothingForged(queue)
    })

    test('a job with a retryAfter that was changed between its claim and its delivery is not handed out', async () => {
      const queue = await attackedQueue(engine)
      const { ask } = await queue.bedrock()
      await ask('CreateJob', { name: 'mail', data: genuine, retryAfter: '+1 HOUR' })
      const id = await queue.idOf(1)
      const { extend } = queue.backend
      queue.backend.extend = async (tokens, leaseMs) => {
        await queue.forge(id, { payload: forged })
        return extend.call(queue.backend, tokens, leaseMs)
      }
      const { status, json } = await ask('GetJob', { name: 'mail' })
      expect([status, json?.data]).not.toEqual(['200 OK', JSON.parse(forged)])
      expect(await queue.isSigned(id)).toBe(json?.data !== undefined)
    })

    test('CreateJob of a unique name is not answered by a job that was changed, and does not sign it', async () => {
      const queue = await attackedQueue(engine)
      const { ask } = await queue.bedrock()
      const wish = { name: 'mail', unique: true, firstRun: '2027-01-01 00:00:00' }
      await ask('CreateJob', { ...wish, data: genuine })
      const id = await queue.idOf(1)
      await queue.forge(id, { payload: forged })
      const { json } = await ask('CreateJob', { ...wish, data: { more: 1 } })
      expect(json.jobID).not.toBe(1)
      await queue.expectRejected(id)
      expect((await ask('QueryJob', json)).json.data).toEqual({ more: 1 })
    })
  })

  describe('over HTTP', () => {
    test('PATCH of a job that was changed ends it, and signs nothing', async () => {
      const queue = await attackedQueue(engine)
      const { client, problem } = await queue.http()
      const { id } = await client.jobs.create({ job: 'mail', payload: genuine, delay: '1h' })
      await queue.forge(id, { payload: forged })
      const json = { priority: 7 }
      expect(await problem('PATCH', `/jobs/${id}`, { json })).toMatchObject({ status: 409 })
      await queue.expectRejected(id)
      await expectNothingForged(queue)
    })

    test('settling a repeating job that was changed while it ran ends it', async () => {
      const queue = await attackedQueue(engine)
      const { client } = await queue.http()
      const { id } = await client.jobs.create({ job: 'mail', payload: genuine, repeat: 'FINISHED, +1 HOUR' })
      const [lease] = await client.leases.take({ jobs: ['mail'] })
      await queue.forge(id, { payload: forged })
      expect(await client.leases.settle(id, { token: lease?.token ?? '', outcome: 'done' })).toBe('dead')
      await queue.expectRejected(id)
      await expectNothingForged(queue)
    })

    test.each(['done', 'fail'] as const)(
      '%s takes neither an idempotency key nor retries from what was written',
      async (outcome) => {
        const queue = await attackedQueue(engine)
        const { client } = await queue.http()
        const { id } = await client.jobs.create({ job: 'mail', payload: genuine, maxRetries: 3 })
        const [lease] = await client.leases.take({ jobs: ['mail'] })
        await queue.forgeIdentity(id, { [field.idempotencyKey]: 'somebody-elses', [field.maxRetries]: 1_000_000 })
        const failure = outcome === 'fail' ? { error: { message: 'no' } } : {}
        expect(await client.leases.settle(id, { token: lease?.token ?? '', outcome, ...failure } as never)).toBe('dead')
        await queue.expectRejected(id)
        expect(await queue.backend.coordination.claimOnce('somebody-elses', 'another')).toEqual({ kind: 'claimed' })
      },
    )

    test('is not handed out by a lease, nor put back', async () => {
      const queue = await attackedQueue(engine)
      const { client, problem } = await queue.http()
      const { id } = await client.jobs.create({ job: 'mail', payload: genuine })
      await queue.forge(id, { payload: forged })
      expect(await client.leases.take({ jobs: ['mail'] })).toEqual([])
      await queue.expectRejected(id)
      expect(await problem('POST', `/jobs/${id}/retry`)).toMatchObject({ status: 409 })
      await queue.expectRejected(id)
    })
  })

  describe('in the program', () => {
    test('a repeating job that is changed while it runs is done again as it was claimed', async () => {
      const queue = await attackedQueue(engine)
      const { ask } = await queue.bedrock()
      await ask('CreateJob', { name: 'mail', data: genuine, repeat: 'FINISHED, +1 HOUR' })
      const id = await queue.idOf(1)
      const seen: unknown[] = []
      queue.jobs.define('mail', async (payload: unknown) => {
        seen.push(payload)
        await queue.forge(id, { payload: forged, signature: null })
      })
      await queue.jobs.run()
      expect(await queue.record({ id })).toMatchObject({ state: 'scheduled', payload: JSON.stringify(genuine) })
      expect(await queue.isSigned(id)).toBe(true)
      expect(queue.log).toContainEqual(expect.stringMatching(/^warn "mail" .* was changed while it ran/))
      await queue.clock.advance(3_600_000)
      await queue.jobs.run()
      expect(seen).toEqual([genuine, genuine])
    })

    test('a dispatch is not merged into a job that was changed, and takes its place', async () => {
      const queue = await attackedQueue(engine)
      const job = queue.jobs.define('mail', async (_: object) => {}).unique('k', { onConflict: 'merge' })
      const first = await job.dispatch({ a: 1 }, { delay: '1h' })
      await queue.forge(first.id, { payload: forged })
      const second = await job.dispatch({ b: 2 }, { delay: '1h' })
      expect(second.id).not.toBe(first.id)
      await queue.expectRejected(first.id)
      const third = await job.dispatch({ c: 3 }, { delay: '1h' })
      expect(third.id).toBe(second.id)
      expect((await queue.record(second)).payload).toBe('{"b":2,"c":3}')
      expect(await queue.isSigned(second.id)).toBe(true)
    })

    test('a debounced dispatch with a longest wait takes the place of a job that was changed', async () => {
      const queue = await attackedQueue(engine)
      const job = queue.jobs.define('mail', async (_: object) => {}).debounce('1m', { key: 'k', maxWait: '5m' })
      const first = await job.dispatch({ a: 1 })
      await queue.forge(first.id, { payload: forged })
      const second = await job.dispatch({ b: 2 })
      expect(second.id).not.toBe(first.id)
      await queue.expectRejected(first.id)
      expect((await queue.record(second)).payload).toBe('{"b":2}')
      expect(await queue.isSigned(second.id)).toBe(true)
    })

    test.each(['replace', 'merge'] as const)(
      'a dispatch with onConflict %s does not take the place of a job of another kind that was given its key',
      async (onConflict) => {
        const queue = await attackedQueue(engine)
        const card = queue.jobs.define('card', async (_: object) => {}).encrypt()
        const note = queue.jobs.define('note', async (_: object) => {}).unique('k', { onConflict })
        const victim = await card.dispatch({ pin: 1234 }, { delay: '1h' })
        const holder = await note.dispatch({ text: 'first' }, { delay: '1h' })
        const before = await queue.record(victim)
        await queue.attacker.moveKey(holder.id, victim.id)
        await expect(note.dispatch({ text: 'hello' }, { delay: '1h' })).rejects.toMatchObject({ code: 'SIGNATURE_INVALID' })
        expect(await queue.record(victim)).toMatchObject({ job: 'card', payload: before.payload, signature: before.signature })
      },
    )

    test('the envelope of another job is refused under this id', async () => {
      const queue = await attackedQueue(engine)
      const { client, problem } = await queue.http()
      const one = await client.jobs.create({ job: 'mail', payload: genuine, delay: '1h' })
      const other = await client.jobs.create({ job: 'mail', payload: JSON.parse(forged), delay: '1h' })
      const { identity, payload, signature } = await queue.record(other)
      await queue.forge(one.id, { identity, payload, signature })
      expect(await problem('PATCH', `/jobs/${one.id}`, { json: { priority: 7 } })).toMatchObject({ status: 409 })
      await queue.expectRejected(one.id)
    })
  })
})
