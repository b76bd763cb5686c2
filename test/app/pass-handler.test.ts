import { treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let jobs: ReturnType<typeof treadle>
const token = 'a-token-that-is-long-enough'
const address = 'http://127.0.0.1/jobs'
const asking = (more: RequestInit = {}) => new Request(address, { headers: { authorization: `Bearer ${token}` }, ...more })

beforeEach(() => {
  jobs = treadle('memory:')
})
afterEach(() => jobs.close())

describe('a pass for each request', () => {
  it('runs what is due, up to the limit, and answers with the report', async () => {
    const mail = jobs.define('mail', async () => 'sent')
    await mail.dispatchMany([1, 2, 3])
    const handler = jobs.handler({ token, limit: 2 })
    const first = await handler(asking())
    expect(first.status).toBe(200)
    expect(await first.json()).toMatchObject({ succeeded: 2, dead: 0 })
    expect(await (await handler(asking({ method: 'POST' }))).json()).toMatchObject({ succeeded: 1 })
  })

  it('starts no job after its time', async () => {
    const mail = jobs.define('mail', async () => 'sent')
    await mail.dispatch()
    const gone = new AbortController()
    gone.abort()
    const answer = await jobs.handler({ token })(asking({ signal: gone.signal }))
    expect(await answer.json()).toMatchObject({ succeeded: 0 })
  })

  it.each([
    ['without a token', {}],
    ['with another token', { authorization: 'Bearer another-token-of-that-kind' }],
    ['with the token as something else', { authorization: `Basic ${token}` }],
  ])('refuses who asks %s, and runs nothing', async (_, headers) => {
    const mail = jobs.define('mail', async () => 'sent')
    const run = await mail.dispatch()
    const answer = await jobs.handler({ token })(new Request(address, { headers }))
    expect(answer.status).toBe(401)
    expect(await run.state()).toBe('ready')
  })

  it('refuses other methods', async () => {
    expect((await jobs.handler({ token: false })(new Request(address, { method: 'DELETE' }))).status).toBe(405)
  })

  it.each([undefined, '', 'short', true])('is not made with the token %j', (wrong) => {
    expect(() => jobs.handler({ token: wrong as string })).toThrow('handler() needs a token of at least 16 characters')
  })

  it('is not made with an option that nobody reads', () => {
    expect(() => jobs.handler({ token, limt: 3 } as never)).toThrow('unknown option "limt", did you mean "limit"?')
  })

  it('answers a failed pass with its code', async () => {
    const handler = jobs.handler({ token, jobs: ['unknown'] })
    const answer = await handler(asking())
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ code: 'JOB_UNKNOWN' })
  })
})

describe('jobs by pattern', () => {
  it('a worker takes only those whose keys fit', async () => {
    for (const job of ['mail-send', 'mail-digest', 'report']) await jobs.define(job, async () => job).dispatch()
    expect(await jobs.run({ jobs: ['mail-*'] })).toMatchObject({ succeeded: 2 })
    expect(await jobs.run({ jobs: ['report'] })).toMatchObject({ succeeded: 1 })
    await expect(jobs.run({ jobs: ['mial-*'] })).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
  })
})
