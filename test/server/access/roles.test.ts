import { describe, expect, test } from 'vitest'
import { roleNeededFor } from '../../../src/client/api/operation.ts'
import { operations } from '../../../src/client/api/operations.ts'
import { roles } from '../../../src/client/api/roles.ts'
import type { Envelope } from '../../../src/envelope/envelope.ts'
import type { ServerToken } from '../../../src/server/access/server-token.ts'
import { commands } from '../../../src/server/bedrock/commands/answer.ts'
import { rolesNeeded } from '../../../src/server/bedrock/commands/permission.ts'
import { served } from '../bedrock/served.ts'
import { serving } from '../http/serving.ts'

const tokens: readonly ServerToken[] = [
  ...roles.map((role) => ({ role, secret: `secret of ${role}` })),
  { role: 'operate', secret: 'limited to mail', queues: ['mail', 'default'], jobs: 'mail/*' },
  { role: 'work', secret: 'limited to queue', queues: ['mail'] },
]

const as = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } })

test('every command and every operation says which role it needs', () => {
  expect([...rolesNeeded.keys()].toSorted()).toEqual([...commands.keys()].toSorted())
  for (const [name, operation] of Object.entries(operations)) {
    if (operation.method !== 'GET') expect([name, 'role' in operation]).toEqual([name, true])
  }
})

describe('over TCP', () => {
  const asked = {
    read: ['QueryJob', 'Status', 'Ping'],
    work: ['CreateJob', 'CreateJobs', 'GetJob', 'GetJobs', 'UpdateJob', 'FinishJob', 'RetryJob', 'FailJob'],
    operate: ['CancelJob', 'DeleteJob', 'RequeueJobs', 'Query'],
    admin: ['CrashBedrockJob', 'ClearCrashedBedrockJobs'],
  } as const

  test.each(roles)('%s may do what its role says, and what those below it may', async (role) => {
    const { status } = await served({ tokens })
    for (const needed of roles) {
      const isAllowed = roles.indexOf(role) >= roles.indexOf(needed)
      for (const verb of asked[needed]) {
        const answer = await status(verb, { token: `secret of ${role}` })
        expect([verb, answer === '403 Forbidden']).toEqual([verb, !isAllowed])
      }
    }
  })

  test('who works ends and changes only what it was given', async () => {
    const { ask, status } = await served({ tokens: [...tokens, { role: 'work', secret: 'another worker' }] })
    const [mine, theirs] = [{ token: 'secret of work' }, { token: 'another worker' }]
    await ask('CreateJob', { ...mine, name: 'a' })
    expect(await status('UpdateJob', { ...mine, jobID: 1, data: '{}' })).toBe('403 Forbidden')
    await ask('GetJob', { ...mine, name: 'a' })
    for (const verb of ['UpdateJob', 'FinishJob', 'RetryJob', 'FailJob']) {
      expect(await status(verb, { ...theirs, jobID: 1, data: '{}' })).toBe('403 Forbidden')
    }
    expect(await status('UpdateJob', { ...mine, jobID: 1, data: '{}' })).toBe('200 OK')
    expect(await status('FinishJob', { ...mine, jobID: 1 })).toBe('200 OK')
  })

  test('who works makes children only of what it was given, and of what waits for that', async () => {
    const { ask, status, restart } = await served({ tokens: [...tokens, { role: 'work', secret: 'another worker' }] })
    const [mine, theirs] = [{ token: 'secret of work' }, { token: 'another worker' }]
    const child = { name: 'child', parentJobID: 1 }
    const children = { jobs: [{ name: 'free' }, child] }
    await ask('CreateJob', { ...mine, name: 'parent' })
    await ask('GetJob', { ...mine, name: 'parent' })
    expect(await status('CreateJob', { ...theirs, ...child })).toBe('403 Forbidden')
    expect(await status('CreateJobs', { ...theirs, ...children })).toBe('403 Forbidden')
    expect(await status('GetJob', { ...theirs, name: 'free' })).toBe('404 No job found')
    expect(await status('CreateJob', { ...mine, ...child })).toBe('200 OK')
    expect(await status('CreateJob', { token: 'secret of operate', ...child })).toBe('200 OK')
    expect(await status('FinishJob', { ...mine, jobID: 1 })).toBe('200 OK')
    expect((await ask('QueryJob', { ...mine, jobID: 1 })).json.state).toBe('PAUSED')
    await ask('GetJob', { ...theirs, name: 'child' })
    expect(await status('CreateJob', { ...mine, ...child })).toBe('403 Forbidden')
    expect(await status('CreateJobs', { ...theirs, jobs: [child] })).toBe('200 OK')
    const another = await restart()
    expect(await another.status('CreateJob', { ...mine, ...child })).toBe('200 OK')
  })

  test('who works ends no job for tests that it was not given', async () => {
    const { ask, status } = await served({ tokens })
    await ask('CreateJob', { token: 'secret of admin', name: 'a', data: { mockRequest: true } })
    for (const verb of ['FinishJob', 'RetryJob', 'FailJob', 'UpdateJob']) {
      const data = { mockRequest: true, other: 1 }
      expect([verb, await status(verb, { token: 'secret of work', jobID: 1, data })]).toEqual([verb, '403 Forbidden'])
    }
    expect((await ask('QueryJob', { token: 'secret of work', jobID: 1 })).json.data).toEqual({ mockRequest: true })
    await ask('GetJob', { token: 'secret of work', name: 'a', mockRequest: true })
    expect(await status('FinishJob', { token: 'secret of work', jobID: 1 })).toBe('200 OK')
  })

  test.each(['UpdateJob', 'FinishJob', 'RetryJob', 'FailJob'])(
    'who has lost a job to another worker may not %s it',
    async (verb) => {
      const { ask, status, backend, clock } = await served({ tokens, lease: '1m' })
      const mine = { token: 'secret of work' }
      await ask('CreateJob', { ...mine, name: 'a' })
      await ask('GetJob', { ...mine, name: 'a' })
      await clock.advance(50_000)
      expect(await status('UpdateJob', { ...mine, jobID: 1, data: { step: 1 } })).toBe('200 OK')
      await clock.advance(50_000)
      expect(await status('UpdateJob', { ...mine, jobID: 1, data: { step: 2 } })).toBe('200 OK')
      await clock.advance(70_000)
      const request = {
        queues: null,
        priority: null,
        limit: 1,
        leaseMs: 60_000,
        owner: 'host:1',
        maxRescues: 10,
        queueLimits: [],
      }
      await backend.lease({ ...request, jobs: [{ job: 'a', concurrency: null }] })
      const lost = '405 The job no longer runs for this client'
      expect(await status(verb, { ...mine, jobID: 1, data: { step: 3 } })).toBe(lost)
      expect((await ask('QueryJob', { ...mine, jobID: 1 })).json).toMatchObject({ state: 'RUNNING', data: { step: 2 } })
      expect(await status('FinishJob', { token: 'secret of operate', jobID: 1 })).toBe('200 OK')
    },
  )

  test('who has lost a plain job to another worker may not finish it', async () => {
    const { ask, status, backend, clock } = await served({ tokens, lease: '1m' })
    await ask('CreateJob', { token: 'secret of work', name: 'a' })
    await ask('GetJob', { token: 'secret of work', name: 'a' })
    await clock.advance(70_000)
    const request = { queues: null, priority: null, limit: 1, leaseMs: 60_000, owner: 'host:1', maxRescues: 10, queueLimits: [] }
    await backend.lease({ ...request, jobs: [{ job: 'a', concurrency: null }] })
    const refused = await status('FinishJob', { token: 'secret of work', jobID: 1 })
    expect(refused).toBe('405 The job no longer runs for this client')
  })

  test('who works overwrites no job of others by making a unique one of its name', async () => {
    const { ask } = await served({ tokens })
    const data = async () => (await ask('QueryJob', { token: 'secret of read', jobID: 1 })).json.data
    const wish = { name: 'a', unique: true, data: { amount: 666 } }
    await ask('CreateJob', { token: 'secret of admin', name: 'a', data: { amount: 1 } })
    expect((await ask('CreateJob', { ...wish, token: 'secret of work' })).json).toEqual({ jobID: 1 })
    expect((await ask('CreateJobs', { token: 'secret of work', jobs: [wish] })).json).toEqual({ jobIDs: [1] })
    expect(await data()).toEqual({ amount: 1 })
    await ask('CreateJob', { ...wish, data: { amount: 2 }, token: 'secret of operate' })
    expect(await data()).toEqual({ amount: 2 })
    await ask('GetJob', { token: 'secret of work', name: 'a' })
    await ask('CreateJob', { ...wish, data: { amount: 3 }, token: 'secret of work' })
    expect(await data()).toEqual({ amount: 3 })
  })

  test('a job that a worker of the queue itself has is not ended by one who only works', async () => {
    const { ask, status, backend } = await served({ tokens })
    await ask('CreateJob', { token: 'secret of work', name: 'a' })
    const request = { queues: null, priority: null, limit: 1, leaseMs: 60_000, owner: 'host:1', maxRescues: 10, queueLimits: [] }
    await backend.lease({ ...request, jobs: [{ job: 'a', concurrency: null }] })
    expect(await status('FinishJob', { token: 'secret of work', jobID: 1 })).toBe('403 Forbidden')
    expect(await status('FinishJob', { token: 'secret of operate', jobID: 1 })).toBe('200 OK')
  })

  test('a limited token sees, makes and takes no others', async () => {
    const { ask, status } = await served({ tokens })
    const [admin, limited] = [{ token: 'secret of admin' }, { token: 'limited to mail' }]
    await ask('CreateJob', { ...admin, name: 'other' })
    await ask('CreateJob', { ...admin, name: 'mail/a' })
    expect(await status('CreateJob', { ...limited, name: 'other' })).toBe('403 Forbidden')
    expect(await status('CreateJobs', { ...limited, jobs: [{ name: 'mail/b' }, { name: 'other' }] })).toBe('403 Forbidden')
    for (const verb of ['QueryJob', 'UpdateJob', 'FinishJob', 'FailJob', 'RetryJob', 'CancelJob', 'DeleteJob']) {
      expect(await status(verb, { ...limited, jobID: 1, data: '{}' })).toBe('404 No job with this jobID')
    }
    expect(await status('QueryJob', { ...limited, jobID: 2 })).toBe('200 OK')
    expect(await status('Query', { ...limited, query: 'SELECT 1;' })).toBe('403 Forbidden')
    expect(await status('GetJob', { ...limited, name: 'other' })).toBe('404 No job found')
    expect((await ask('GetJobs', { ...limited, name: '*', numResults: 10 })).json.jobs).toMatchObject([{ name: 'mail/a' }])
    expect((await ask('Status', limited)).json.jobs).toMatchObject({ ready: 0, running: 1 })
    expect(await status('RetryJob', { ...limited, jobID: 2, name: 'other' })).toBe('403 Forbidden')
    expect(await status('RequeueJobs', { ...limited, jobIDs: '1,2', name: 'other' })).toBe('403 Forbidden')
    await ask('GetJob', { ...admin, name: 'other' })
    expect(await status('RequeueJobs', { ...limited, jobIDs: '1,2' })).toBe('200 OK')
    expect((await ask('QueryJob', { ...admin, jobID: 1 })).json.state).toBe('RUNNING')
    expect((await ask('QueryJob', { ...admin, jobID: 2 })).json.state).toBe('QUEUED')
  })

  test('a limited token makes no children of others, and is told nothing of its parent', async () => {
    const { ask, status } = await served({ tokens })
    const [admin, limited] = [{ token: 'secret of admin' }, { token: 'limited to mail' }]
    await ask('CreateJob', { ...admin, name: 'parent', data: { secret: 1 } })
    await ask('GetJob', { ...admin, name: 'parent' })
    expect(await status('CreateJob', { ...limited, name: 'mail/a', parentJobID: 1 })).toBe('404 parentJobID does not exist')
    await ask('CreateJob', { ...admin, name: 'mail/a', parentJobID: 1 })
    await ask('FinishJob', { ...admin, jobID: 1 })
    const { json } = await ask('GetJob', { ...limited, name: '*' })
    expect(json).toMatchObject({ name: 'mail/a' })
    expect(json).not.toHaveProperty('parentData')
    expect(json).not.toHaveProperty('parentJobID')
  })

  test('a job of others that somebody works on is not there for a limited token', async () => {
    const { ask, status } = await served({ tokens: [...tokens, { role: 'work', secret: 'mail only', jobs: 'mail/*' }] })
    const admin = { token: 'secret of admin' }
    for (const name of ['other', 'another']) await ask('CreateJob', { ...admin, name })
    await ask('GetJob', { ...admin, name: 'other' })
    for (const verb of ['QueryJob', 'UpdateJob', 'FinishJob', 'RetryJob', 'FailJob']) {
      for (const jobID of [1, 2, 999]) {
        expect(await status(verb, { token: 'mail only', jobID, data: '{}' })).toBe('404 No job with this jobID')
      }
    }
  })

  test('a token of a queue makes nothing elsewhere', async () => {
    const { jobs, status } = await served({ tokens })
    jobs.declare('letter').queue('mail')
    expect(await status('CreateJob', { token: 'limited to queue', name: 'a' })).toBe('403 Forbidden')
    expect(await status('CreateJob', { token: 'limited to queue', name: 'letter' })).toBe('200 OK')
    expect(await status('GetJob', { token: 'limited to queue', name: '*' })).toBe('200 OK')
  })
})

describe('over HTTP', () => {
  test.each(roles)('%s may do what its role says, and what those below it may', async (role) => {
    const { ask } = await serving({ tokens })
    for (const operation of Object.values(operations)) {
      const needed = roleNeededFor(operation)
      const path = operation.path.replaceAll(/\{\w+\}/g, 'x')
      const { status } = await ask(operation.method, path, as(`secret of ${role}`))
      const isAllowed = 'open' in operation || roles.indexOf(role) >= roles.indexOf(needed)
      expect([operation.method, path, status === 403]).toEqual([operation.method, path, !isAllowed])
    }
  })

  test('a limited token sees, makes and takes no others', async () => {
    const { ask, jobs, clock } = await serving({ tokens })
    jobs.declare('tick').cron('* * * * *')
    jobs.declare('mail/daily').cron('0 0 * * *')
    const [admin, limited] = [as('secret of admin'), as('limited to mail')]
    const create = async (job: string, queue: string, who = admin) =>
      (await ask('POST', '/jobs', { ...who, json: { job, queue } })) as { status: number; body: { id: string } }
    const [mine, other, elsewhere] = [
      await create('mail/a', 'mail'),
      await create('other', 'mail'),
      await create('mail/b', 'secret'),
    ]
    expect((await create('other', 'mail', limited)).status).toBe(403)
    expect((await create('mail/a', 'secret', limited)).status).toBe(403)
    expect((await create('mail/a', 'mail', limited)).status).toBe(201)
    expect(await ask('GET', `/jobs/${mine.body.id}`, limited)).toMatchObject({ status: 200 })
    for (const { body } of [other, elsewhere]) {
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/why'],
        ['DELETE', ''],
        ['POST', '/cancel'],
        ['POST', '/retry'],
      ] as const) {
        expect(await ask(method, `/jobs/${body.id}${path}`, limited)).toMatchObject({ status: 404 })
      }
      expect(await ask('PATCH', `/jobs/${body.id}`, { ...limited, json: { priority: 1 } })).toMatchObject({ status: 404 })
    }
    const names = async (path: string) =>
      ((await ask('GET', path, limited)).body as { jobs: { job: string; queue: string }[] }).jobs.map(
        ({ job, queue }) => `${queue} ${job}`,
      )
    expect(await names('/jobs')).toEqual(['mail mail/a', 'mail mail/a'])
    expect(await names('/jobs?queue=secret')).toEqual([])
    expect(await names('/stats')).toEqual(['mail mail/a'])
    expect(await ask('GET', '/queues', limited)).toMatchObject({ body: { queues: [{ queue: 'mail', counts: { ready: 2 } }] } })
    expect(await ask('POST', '/queues/mail/pause', limited)).toMatchObject({ status: 403 })
    expect(await ask('POST', '/dead/purge', { ...limited, json: { all: true } })).toMatchObject({ status: 403 })
    expect(await ask('POST', '/dead/replay', { ...limited, json: { queue: 'mail', job: 'other' } })).toMatchObject({
      status: 403,
    })
    expect(await ask('POST', '/dead/purge', { ...limited, json: { queue: 'mail', job: 'mail/a' } })).toMatchObject({
      status: 200,
    })
    const { schedules } = (await ask('GET', '/schedules', limited)).body as { schedules: { name: string }[] }
    expect(schedules.map(({ name }) => name)).toEqual(['mail/daily'])
    expect(await ask('POST', '/schedules/tick/pause', limited)).toMatchObject({ status: 404 })
    expect(await ask('GET', '/schedules/tick/next', limited)).toMatchObject({ status: 404 })
    const taken = await ask('POST', '/leases', { ...limited, json: { jobs: ['*'], limit: 10 } })
    const { leases } = taken.body as { leases: { id: string; job: string; token: string }[] }
    expect(leases.map(({ job }) => job)).toEqual(['mail/a', 'mail/a'])
    expect((await ask('POST', '/leases', { ...limited, json: { jobs: ['other'] } })).status).toBe(204)
    const theirs = (await ask('POST', '/leases', { ...admin, json: { jobs: ['other'] } })).body as {
      leases: { id: string; token: string }[]
    }
    const { id, token } = theirs.leases[0] as { id: string; token: string }
    const settlement = { id, token, outcome: 'done' }
    // As with a job that never was.
    for (const held of [settlement, { ...settlement, id: 'never was' }]) {
      expect(await ask('POST', '/leases/settle', { ...limited, json: { settlements: [held] } })).toMatchObject({
        status: 200,
        body: { receipts: ['lost'] },
      })
      expect(await ask('POST', '/leases/extend', { ...limited, json: { leases: [{ id: held.id, token }] } })).toMatchObject({
        status: 200,
        body: { leases: ['lost'] },
      })
    }
    expect(await ask('GET', `/jobs/${id}`, admin)).toMatchObject({ body: { state: 'running' } })
    expect(await ask('POST', `/jobs/${id}/settle`, { ...limited, json: { token, outcome: 'done' } })).toMatchObject({
      status: 404,
    })
    expect(await ask('POST', `/jobs/${id}/progress`, { ...limited, json: { token, progress: 1 } })).toMatchObject({ status: 404 })
    await clock.advance(0)
  })

  test('a limited token turns the pages of a queue that is mostly others’', async () => {
    const { ask, client: _, service } = await serving({ tokens })
    const envelopes: Envelope[] = []
    for (let index = 0; index < 130; index++) {
      envelopes.push(await service.creating.seal({ job: index % 50 === 0 ? 'mail/a' : 'other', payload: `${index}` }))
    }
    await service.creating.sendAll(envelopes)
    const found: string[] = []
    for (let path: string | null = '/jobs?limit=1'; path !== null; ) {
      const { jobs, next } = (await ask('GET', path, as('limited to mail'))).body as {
        jobs: { id: string }[]
        next: string | null
      }
      found.push(...jobs.map(({ id }) => id))
      path = next === null ? null : next.replace('/api/v1', '')
    }
    expect(found).toEqual([100, 50, 0].map((index) => envelopes[index]?.id))
  })

  test('a limited token learns nothing of a job of others by asking for the page behind it', async () => {
    const { ask } = await serving({ tokens })
    const { body } = (await ask('POST', '/jobs', { ...as('secret of admin'), json: { job: 'other', queue: 'mail' } })) as {
      body: { id: string }
    }
    for (const path of ['/jobs', '/dead']) {
      const hidden = await ask('GET', `${path}?before=${body.id}`, as('limited to mail'))
      const missing = await ask('GET', `${path}?before=${body.id.slice(0, -4)}0000`, as('limited to mail'))
      expect(hidden).toMatchObject({ status: 200, body: { jobs: [], next: null } })
      expect([missing.status, missing.body]).toEqual([hidden.status, hidden.body])
      expect(await ask('GET', `${path}?before=${body.id}`, as('secret of admin'))).toMatchObject({ status: 200 })
    }
  })

  test('a page that ends at a job of others goes on behind it without telling its id', async () => {
    const { ask, service } = await serving({ tokens })
    const seal = (job: string) => service.creating.seal({ job, payload: '1' })
    const mine = await seal('mail/a')
    const others: Envelope[] = []
    for (let index = 0; index < 5_001; index++) others.push(await seal('other'))
    await service.creating.sendAll([mine, ...others])
    const first = (await ask('GET', '/jobs', as('limited to mail'))).body as { jobs: object[]; next: string }
    expect(first.jobs).toEqual([])
    const before = new URLSearchParams(first.next.split('?')[1]).get('before') ?? ''
    expect(
      others.map(({ id }) => id).filter((id) => Buffer.from(before, 'base64url').includes(id) || before.includes(id)),
    ).toEqual([])
    const second = await ask('GET', first.next.replace('/api/v1', ''), as('limited to mail'))
    expect(second).toMatchObject({ status: 200, body: { jobs: [{ id: mine.id }], next: null } })
    expect(await ask('GET', `/jobs?before=${before.slice(0, -4)}AAAA`, as('limited to mail'))).toMatchObject({ status: 404 })
  })

  test('wrong tokens are looked at ever later', async () => {
    const { ask, clock } = await serving({ tokens })
    for (let guess = 0; guess < 5; guess++) expect(await ask('GET', '/jobs', as(`guess ${guess}`))).toMatchObject({ status: 401 })
    let isAnswered = false
    const right = ask('GET', '/jobs', as('secret of read')).finally(() => {
      isAnswered = true
    })
    expect(await ask('GET', '/health')).toMatchObject({ status: 200 })
    expect(isAnswered).toBe(false)
    await clock.advance(5_000)
    expect(await right).toMatchObject({ status: 200 })
  })
})

describe('without a token over HTTP', () => {
  test.each([
    ['a form', 415, { 'content-type': 'text/plain' }],
    ['a form of fields', 415, { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a form with files', 415, { 'content-type': 'multipart/form-data; boundary=b' }],
    ['another site', 403, { 'sec-fetch-site': 'cross-site' }],
    ['another port of this machine', 403, { 'sec-fetch-site': 'same-site' }],
  ])('nothing is changed for %s', async (_, status, headers) => {
    const { ask, backend } = await serving()
    expect(await ask('POST', '/queues/mail/pause', { headers })).toMatchObject({ status })
    expect((await backend.store.paused()).queues).toEqual([])
  })
})

test('a key that a job outside of the limits of a token holds is refused without its id', async () => {
  const { ask } = await serving({ tokens })
  const json = (job: string) => ({ job, queue: 'mail', unique: { key: 'k' } })
  const make = (secret: string, queue: string) => ask('POST', '/jobs', { ...as(secret), json: { ...json('mail/a'), queue } })
  const { body } = (await make('secret of admin', 'secret')) as { body: { id: string } }
  const refused = await make('limited to mail', 'mail')
  expect(refused.status).toBe(403)
  expect(JSON.stringify(refused.body)).not.toContain(body.id)
  const bulk = await ask('POST', '/jobs/bulk', { ...as('limited to mail'), json: { jobs: [json('mail/a')] } })
  expect(bulk.status).toBe(403)
  const beside = { job: 'mail/a', queue: 'mail' }
  const mixed = await ask('POST', '/jobs/bulk', { ...as('limited to mail'), json: { jobs: [json('mail/a'), beside] } })
  expect(mixed).toMatchObject({ status: 201, body: { jobs: [{ created: false }, { created: true }] } })
  expect(JSON.stringify(mixed.body)).not.toContain(body.id)
})
