import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type BedrockClientOptions, bedrockClient } from '../../src/client/bedrock/client.ts'
import type { BedrockAnswer } from '../../src/server/bedrock/connections/peer.ts'
import type { BedrockRequest } from '../../src/server/bedrock/wire/request.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { certificate } from '../server/bedrock/certificate.ts'
import { listening } from '../server/bedrock/wire.ts'
import { gate, until } from '../world.ts'

/** A client of a listener that answers as told. */
async function clientOf(answer: BedrockAnswer, options: BedrockClientOptions & { serverToken?: string } = {}) {
  const { serverToken, ...rest } = options
  const ground = await listening({ answer, ...(serverToken !== undefined && { token: serverToken }) })
  const client = bedrockClient({ port: ground.listener.address.port, ...rest })
  onTestFinished(() => client.close())
  return { ...ground, client }
}

const ok = (body = '') => ({ code: 200, text: 'OK', body })

function sent(request: BedrockRequest | undefined): Record<string, string> {
  const { 'content-length': _, ...headers } = Object.fromEntries(request?.headers ?? [])
  return { method: request?.method ?? '', ...headers }
}

describe('a command', () => {
  test('becomes a request with its parameters as headers', async () => {
    const { client, requests } = await clientOf(() => ok('{"jobID":7}'))
    const data = { text: 'a\n"b"\\', list: [1, { é: '😀' }] }
    const jobID = await client.createJob({ name: ' odd\nname ', data, repeat: 'DAILY', jobPriority: 750, unique: true })
    expect(jobID).toBe(7)
    expect(sent(requests[0])).toEqual({
      method: 'CreateJob',
      name: ' odd\nname ',
      data: JSON.stringify(data),
      repeat: 'DAILY',
      jobpriority: '750',
      unique: 'true',
    })
  })

  test.each([
    [
      'updateJob',
      (client) => client.updateJob(1, { data: { a: 1 }, nextRun: '2026-01-01' }),
      { data: '{"a":1}', nextrun: '2026-01-01' },
    ],
    ['finishJob', (client) => client.finishJob(1, { data: [1] }), { data: '[1]' }],
    ['finishJob', (client) => client.finishJob(1), {}],
    ['retryJob', (client) => client.retryJob(1, { delay: 5, ignoreRepeat: true }), { delay: '5', ignorerepeat: 'true' }],
    ['failJob', (client) => client.failJob(1, { data: { error: 'x' } }), { data: '{"error":"x"}' }],
    ['cancelJob', (client) => client.cancelJob(1), {}],
    ['deleteJob', (client) => client.deleteJob(1), {}],
  ] satisfies [string, (client: ReturnType<typeof bedrockClient>) => Promise<void>, object][])(
    '%s',
    async (name, call, headers) => {
      const { client, requests } = await clientOf(() => ok())
      await call(client)
      expect(sent(requests[0])).toEqual({ method: `${name[0]?.toUpperCase()}${name.slice(1)}`, jobid: '1', ...headers })
    },
  )

  test('createJobs, requeueJobs, ping, status and query', async () => {
    const bodies: Record<string, string> = {
      createjobs: '{"jobIDs":[1,2]}',
      status: '{"state":"LEADING"}',
      query: '{"headers":[],"rows":[]}',
    }
    const { client, requests } = await clientOf(({ verb }) => ok(bodies[verb] ?? ''))
    expect(await client.createJobs([{ name: 'a' }, { name: 'b', data: { x: 1 } }])).toEqual([1, 2])
    await client.requeueJobs([1, 2], { name: 'c' })
    await client.ping()
    expect(await client.status()).toEqual({ state: 'LEADING' })
    expect(await client.query('SELECT 1')).toEqual({ headers: [], rows: [] })
    expect(requests.map(sent)).toEqual([
      { method: 'CreateJobs', jobs: '[{"name":"a"},{"name":"b","data":{"x":1}}]' },
      { method: 'RequeueJobs', jobids: '1,2', name: 'c' },
      { method: 'Ping' },
      { method: 'Status' },
      { method: 'Query', query: 'SELECT 1;', format: 'json' },
    ])
  })
})

describe('asking for jobs', () => {
  test('gives what is handed out', async () => {
    const job = { jobID: 1, name: 'a', data: { n: 1 } }
    const { client, requests } = await clientOf(({ verb }) => ok(JSON.stringify(verb === 'getjob' ? job : { jobs: [job] })))
    expect(await client.getJob('a*')).toEqual(job)
    expect(await client.getJobs('*', 5, { wait: '2s', jobPriority: 1000 })).toEqual([job])
    expect(requests.map(sent)).toEqual([
      { method: 'GetJob', name: 'a*' },
      { method: 'GetJobs', name: '*', numresults: '5', connection: 'wait', timeout: '2000', jobpriority: '1000' },
    ])
  })

  test('gives nothing where there is none, and where a wait ends without one', async () => {
    const codes = [404, 303, 555]
    const { client } = await clientOf(() => ({ code: codes.shift() ?? 200, text: 'None', body: codes.length === 0 ? '{}' : '' }))
    expect(await client.getJob('*')).toBe(undefined)
    expect(await client.getJobs('*', 2, { wait: '1s' })).toEqual([])
    expect(await client.getJob('*', { wait: '1s' })).toBe(undefined)
    expect(await client.getJob('*')).toBe(undefined)
  })

  test('for as long as it takes asks again, and lets the server rest where it does not wait', async () => {
    const clock = new ManualClock()
    const job = { jobID: 1, name: 'a', data: {} }
    const rounds = [gate(), gate()]
    const { client, requests } = await clientOf(
      async () => {
        const round = rounds[requests.length - 1]
        if (round === undefined) return ok(JSON.stringify(job))
        await round.opened
        return { code: 404, text: 'No job found' }
      },
      { clock },
    )
    const asked = client.getJob('a', { wait: true })
    await until(() => requests.length === 1)
    await clock.advance(60_000)
    rounds[0]?.open()
    await until(() => requests.length === 2)
    rounds[1]?.open()
    await until(() => clock.nextTimerAt === clock.now() + 1_000)
    await clock.advance(1_000)
    expect(await asked).toEqual(job)
    const each = { method: 'GetJob', name: 'a', connection: 'wait', timeout: '60000' }
    expect(requests.map(sent)).toEqual([each, each, each])
  })

  test('for as long as it takes ends with its signal, also between two rounds', async () => {
    const clock = new ManualClock()
    const controller = new AbortController()
    const { client } = await clientOf(() => ({ code: 404, text: 'No job found' }), { clock })
    const asked = client.getJobs('*', 2, { wait: true, signal: controller.signal })
    const failed = expect(asked).rejects.toThrow('enough')
    await until(() => clock.nextTimerAt === clock.now() + 1_000)
    controller.abort(new Error('enough'))
    await failed
  })

  test('queryJob knows that a job is not there', async () => {
    const { client } = await clientOf(() => ({ code: 404, text: 'No job with this jobID' }))
    expect(await client.queryJob(9)).toBe(undefined)
  })
})

describe('a refusal', () => {
  test('is an error with the words of the server', async () => {
    const { client } = await clientOf(() => ({ code: 405, text: 'Can only fail RUNNING or RUNQUEUED jobs' }))
    await expect(client.failJob(1)).rejects.toMatchObject({
      code: 'SERVER_REFUSED',
      status: 405,
      reason: 'Can only fail RUNNING or RUNQUEUED jobs',
      message: 'The job server refused FailJob: 405 Can only fail RUNNING or RUNQUEUED jobs',
    })
  })

  test('does not end the connection', async () => {
    let count = 0
    const { client } = await clientOf(() => (count++ === 0 ? { code: 402, text: 'No' } : ok()))
    await expect(client.ping()).rejects.toMatchObject({ status: 402 })
    await client.ping()
  })

  test('of a wrong token, and none of the right one', async () => {
    const { client, listener } = await clientOf(() => ok(), { serverToken: 's3cret', token: 's3cret' })
    await client.ping()
    const other = bedrockClient({ port: listener.address.port, token: 'wrong' })
    onTestFinished(() => other.close())
    await expect(other.ping()).rejects.toMatchObject({ status: 401 })
  })
})

describe('the connection', () => {
  test('carries what is asked at once in its order, one after the other', async () => {
    const gates = [gate(), gate(), gate()]
    let begun = 0
    const { client } = await clientOf(async ({ headers }) => {
      await gates[begun++]?.opened
      return ok(`{"jobID":${headers.get('name')}}`)
    })
    const calls = [1, 2, 3].map((name) => client.createJob({ name: String(name) }))
    for (const [index, each] of gates.entries()) {
      await until(() => begun === index + 1)
      each.open()
    }
    expect(await Promise.all(calls)).toEqual([1, 2, 3])
  })

  test('is opened again when it was lost between two calls', async () => {
    const { client, requests } = await clientOf(({ headers }) => ({ ...ok(), headers: { Connection: headers.get('x') ?? '' } }))
    await client.request('Ping', { Connection: 'close', x: 'close' })
    await client.ping()
    await client.request('Ping', { Connection: 'close', x: 'keep' })
    await until(async () => {
      await client.ping().catch(() => undefined)
      return requests.length >= 4
    })
  })

  test('that is lost before the answer fails what was asked, and nothing else', async () => {
    const sockets: import('node:net').Socket[] = []
    const server = createServer((socket) => {
      sockets.push(socket)
      socket.on('data', () => (sockets.length === 1 ? socket.destroy() : socket.write('200 OK\r\nContent-Length: 0\r\n\r\n')))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const client = bedrockClient({ port: (server.address() as { port: number }).port })
    onTestFinished(() => {
      client.close()
      server.close()
    })
    const [first, second] = [client.ping(), client.ping()]
    await expect(first).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE' })
    await second
  })

  test.each([
    ['SSH-2.0-x\r\n\r\n', 'another protocol'],
    ['200 OK\r\nContent-Length: 0\r\n\r\nmore', 'more was answered'],
    ['200 OK\r\nContent-Length: 3\r\n\r\n{x}', 'not JSON'],
  ])('refuses what is no reply: %j', async (bytes, why) => {
    const server = createServer((socket) => socket.on('error', () => {}).on('data', () => socket.write(bytes)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const client = bedrockClient({ port: (server.address() as { port: number }).port })
    onTestFinished(() => {
      client.close()
      server.close()
    })
    await expect(client.status()).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE', message: expect.stringContaining(why) })
  })

  test('to nowhere is a clear error', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    const client = bedrockClient({ port })
    await expect(client.ping()).rejects.toMatchObject({
      code: 'SERVER_UNREACHABLE',
      message: expect.stringContaining(`127.0.0.1:${port} cannot be reached`),
    })
  })
})

describe('an end before the answer', () => {
  test('by a signal tells the server, and the next call is answered', async () => {
    const controller = new AbortController()
    const seen: AbortSignal[] = []
    const { client } = await clientOf(async ({ verb }, peer) => {
      if (verb === 'ping') return ok()
      seen.push(peer.closing)
      return new Promise(() => {})
    })
    const waiting = client.getJob('*', { wait: true, signal: controller.signal })
    const behind = client.ping()
    await until(() => seen.length === 1)
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await until(() => seen[0]?.aborted === true)
    await behind
    await expect(client.ping({ signal: controller.signal })).rejects.toThrow('enough')
  })

  test('by a signal, of a call that was not sent yet, disturbs nobody', async () => {
    const controller = new AbortController()
    const { open, opened } = gate()
    const { client, requests } = await clientOf(() => opened.then(() => ok()))
    const first = client.ping()
    const second = client.ping({ signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    open()
    await first
    expect(requests).toHaveLength(1)
  })

  test('by its time', async () => {
    const clock = new ManualClock()
    const { client, requests } = await clientOf(() => new Promise(() => {}), { clock, timeout: '5s' })
    const asked = client.getJob('*', { wait: '10s' })
    await until(() => requests.length === 1)
    const failed = expect(asked).rejects.toMatchObject({
      code: 'SERVER_UNREACHABLE',
      message: expect.stringContaining('15000 ms'),
    })
    await clock.advance(15_000)
    await failed
  })

  test('by close()', async () => {
    const { client, requests } = await clientOf(() => new Promise(() => {}))
    const asked = [client.ping(), client.ping()]
    const failed = Promise.all(asked.map((each) => expect(each).rejects.toMatchObject({ code: 'BACKEND_CLOSED' })))
    await until(() => requests.length === 1)
    client.close()
    await failed
    await expect(client.ping()).rejects.toMatchObject({ code: 'BACKEND_CLOSED' })
  })
})

describe('an encrypted connection', () => {
  test('is used where it is asked for, and only with a server that is trusted', async () => {
    const ground = await listening({ tls: certificate, answer: () => ok() })
    const { port } = ground.listener.address
    const trusting = bedrockClient({ port, host: 'localhost', tls: { ca: certificate.cert } })
    const wary = bedrockClient({ port, host: 'localhost', tls: true })
    const plain = bedrockClient({ port })
    onTestFinished(() => [trusting, wary, plain].forEach((client) => void client.close()))
    await trusting.ping()
    await trusting.ping()
    await expect(wary.ping()).rejects.toMatchObject({
      code: 'SERVER_UNREACHABLE',
      message: expect.stringContaining('self-signed'),
    })
    await expect(plain.ping()).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE' })
  })
})

describe('options', () => {
  test.each([[{ port: 0 }], [{ hots: 'x' } as never]])('%j is refused', (options) => {
    expect(() => bedrockClient(options)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })
})
