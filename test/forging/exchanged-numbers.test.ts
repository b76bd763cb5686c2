import { describe, expect, test } from 'vitest'
import { type AttackedQueue, attackedQueue, engines } from './attacked-queue.ts'

const forged = { to: 'mallory' }
const later = '2027-01-01 00:00:00'

/** Each of two jobs gets the number of the other. */
async function exchange({ forge, idOf }: AttackedQueue, one: number, other: number): Promise<readonly [string, string]> {
  const ids = [await idOf(one), await idOf(other)] as const
  await forge(ids[0], { number: null })
  await forge(ids[1], { number: one })
  await forge(ids[0], { number: other })
  return ids
}

describe.each(engines)('small numbers that somebody exchanges in %s', (engine) => {
  test.each([
    ['UpdateJob', { jobID: 1, data: forged }],
    ['RequeueJobs', { jobIDs: '1', name: 'renamed' }],
  ])('%s at a server that does not know the number signs nothing of the other job, which is rejected', async (verb, headers) => {
    const queue = await attackedQueue(engine)
    const { ask } = await queue.bedrock()
    await ask('CreateJobs', { jobs: ['echo', 'pay'].map((name) => ({ name, data: { to: 'ada' }, firstRun: later })) })
    const another = await queue.bedrock()
    const [, pay] = await exchange(queue, 1, 2)
    await another.ask(verb, headers)
    await queue.expectRejected(pay)
    expect(await queue.record({ id: pay })).toMatchObject({ job: 'pay', payload: '{"to":"ada"}' })
  })

  test.each([
    ['FinishJob', { data: forged }],
    ['FinishJob', { data: forged, ignoreRepeat: true }],
    ['RetryJob', { data: forged, delay: 0 }],
    ['FailJob', { data: forged }],
    ['UpdateJob', { data: forged }],
  ])('%s %j of a job that runs ends the other one as rejected, with nothing of it', async (verb, headers) => {
    const queue = await attackedQueue(engine)
    const { ask } = await queue.bedrock()
    const repeat = 'FINISHED, +1 HOUR'
    await ask('CreateJobs', { jobs: ['echo', 'pay'].map((name) => ({ name, data: { to: 'ada' }, repeat })) })
    for (const name of ['echo', 'pay']) await ask('GetJob', { name })
    const another = await queue.bedrock()
    const [, pay] = await exchange(queue, 1, 2)
    expect((await another.ask(verb, { jobID: 1, ...headers })).status).toMatch(/^405 /)
    await queue.expectRejected(pay)
    expect(await queue.record({ id: pay })).toMatchObject({ payload: '{"to":"ada"}', result: null })
  })

  test('a number that was taken away or written anew is refused by workers, too', async () => {
    const queue = await attackedQueue(engine)
    const { ask } = await queue.bedrock()
    await ask('CreateJobs', { jobs: [1, 2, 3].map((data) => ({ name: 'mail', data: { data } })) })
    const [without, other] = [await queue.idOf(1), await queue.idOf(2)]
    await queue.forge(without, { number: null })
    await queue.forge(other, { number: 77 })
    const ran: unknown[] = []
    queue.jobs.define('mail', async (payload: unknown) => void ran.push(payload))
    await queue.jobs.run()
    expect(ran).toEqual([{ data: 3 }])
    for (const id of [without, other]) await queue.expectRejected(id)
  })

  test('a job that was sent without a number is handed out, changed and done again under the one that it gets', async () => {
    const queue = await attackedQueue(engine)
    const mail = queue.jobs.define('mail', async () => {})
    const run = await mail.dispatch({ to: 'ada' })
    const { ask } = await queue.bedrock()
    const { json } = await ask('GetJob', { name: 'mail' })
    const another = await queue.bedrock()
    expect(await another.status('UpdateJob', { jobID: json.jobID, data: { to: 'grace' } })).toBe('200 OK')
    expect(await another.status('RetryJob', { jobID: json.jobID, delay: 0 })).toBe('200 OK')
    expect(await queue.isSigned(run.id)).toBe(true)
    expect((await another.ask('GetJob', { name: 'mail' })).json).toMatchObject({ jobID: json.jobID, data: { to: 'grace' } })
    expect(await another.status('FinishJob', { jobID: json.jobID })).toBe('200 OK')
  })

  describe('of jobs that were sent without one', () => {
    test.each([
      ['FinishJob', { data: forged }],
      ['RetryJob', { data: forged, delay: 0 }],
      ['FailJob', { data: forged }],
      ['UpdateJob', { data: forged }],
    ])('%s %j of one that runs writes nothing into the other', async (verb, headers) => {
      const queue = await attackedQueue(engine)
      for (const name of ['echo', 'pay']) await queue.jobs.define(name, async () => {}).dispatch({ to: 'ada' })
      const { ask } = await queue.bedrock()
      const [echo, pay] = [(await ask('GetJob', { name: 'echo' })).json.jobID, (await ask('GetJob', { name: 'pay' })).json.jobID]
      const [, other] = await exchange(queue, echo, pay)
      const another = await queue.bedrock()
      expect((await another.ask(verb, { jobID: echo, ...headers })).status).toMatch(/^405 /)
      expect(await queue.record({ id: other })).toMatchObject({ payload: '{"to":"ada"}', result: null })
    })

    test('UpdateJob by a number that somebody has given to a job that waits writes nothing into it', async () => {
      const queue = await attackedQueue(engine)
      const run = await queue.jobs.define('pay', async () => {}).dispatch({ to: 'ada' })
      await queue.forge(run.id, { number: 77 })
      const { ask } = await queue.bedrock()
      expect((await ask('UpdateJob', { jobID: 77, data: forged })).status).toMatch(/^405 /)
      await ask('RequeueJobs', { jobIDs: '77', name: 'renamed' })
      expect(await queue.record(run)).toMatchObject({ state: 'ready', job: 'pay', payload: '{"to":"ada"}' })
    })

    test.each<[string, (queue: AttackedQueue, id: string) => Promise<unknown>]>([
      ['PATCH', async (queue, id) => (await queue.http()).ask('PATCH', `/jobs/${id}`, { json: { priority: 5 } })],
      ['a dispatch that is merged', (queue) => queue.jobs.dispatch('pay', {}, { unique: { key: 'one', onConflict: 'merge' } })],
      [
        'a dispatch that replaces it',
        (queue) => queue.jobs.dispatch('pay', { to: 'ada' }, { unique: { key: 'one', onConflict: 'replace' } }),
      ],
      ['RequeueJobs', async (queue) => (await queue.bedrock()).ask('RequeueJobs', { jobIDs: '77' })],
    ])('%s signs no number that somebody has given to a job that waits', async (_, act) => {
      const queue = await attackedQueue(engine)
      const { id } = await queue.jobs.define('pay', async () => {}).dispatch({ to: 'ada' }, { unique: 'one' })
      await queue.forge(id, { number: 77 })
      await act(queue, id)
      expect(await queue.record({ id })).toMatchObject({ state: 'ready', number: 77 })
      const { status } = await queue.bedrock()
      expect(await status('UpdateJob', { jobID: 77, data: forged })).toMatch(/^405 /)
      expect(await queue.record({ id })).toMatchObject({ payload: '{"to":"ada"}' })
      expect(await queue.isSigned(id)).toBe(true)
    })
  })
})
