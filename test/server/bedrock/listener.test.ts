import { createServer } from 'node:net'
import { connect as connectTls } from 'node:tls'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { listenBedrock } from '../../../src/server/bedrock/listener.ts'
import { gate, until } from '../../world.ts'
import { certificate } from './certificate.ts'
import { echoOf, listening, wireClient } from './wire.ts'

describe('stopping', () => {
  test('answers what is being carried out, begins nothing else, and closes', async () => {
    const { open, opened } = gate()
    const ground = await listening({ answer: async ({ method }) => opened.then(() => ({ code: 200, text: method })) })
    const [busy, idle] = [await ground.client(), await ground.client()]
    busy.send('A\n\nB\n\n')
    await until(() => ground.requests.length === 1)
    const stopping = ground.listener.stop({ graceMs: 10_000 })
    expect(await idle.all()).toBe('')
    idle.socket.end()
    open()
    expect(await busy.all()).toBe('200 A\r\nContent-Length: 0\r\n\r\n')
    busy.socket.end()
    await stopping
    await ground.listener.stop({ graceMs: 10_000 })
    expect(ground.requests).toHaveLength(1)
    await expect(wireClient(ground.listener.address.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('tells those who wait that they should not, and cuts off what does not end', async () => {
    const undelivered: string[] = []
    const { open, opened } = gate()
    const signals: AbortSignal[] = []
    const ground = await listening({
      answer: async (_, peer) => {
        signals.push(peer.closing, peer.signal)
        await opened
        return { code: 200, text: 'OK', undelivered: () => void undelivered.push('lost') }
      },
    })
    const client = await ground.client()
    client.send('GetJob\n\n')
    await until(() => signals.length === 2)
    const stopping = ground.listener.stop({ graceMs: 5_000 })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    await ground.clock.advance(5_000)
    await stopping
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
    open()
    await until(() => undelivered.length === 1)
  })

  test('cuts off a client that never closes its side', async () => {
    const ground = await listening()
    const client = await ground.client()
    client.send('Ping\n\n')
    await client.reply()
    const stopping = ground.listener.stop({ graceMs: 60_000 })
    await client.all()
    await ground.clock.advance(1_000)
    await stopping
  })

  test('waits for what nobody else waits for', async () => {
    const { open, opened } = gate()
    const ground = await listening({ answer: () => opened.then(() => ({ code: 200, text: 'OK' })) })
    const client = await ground.client()
    client.send('A\nConnection: forget\n\n')
    await client.all()
    client.socket.end()
    let isStopped = false
    const stopping = ground.listener.stop({ graceMs: 60_000 }).then(() => {
      isStopped = true
    })
    await ground.clock.advance(2_000)
    expect(isStopped).toBe(false)
    open()
    await stopping
  })
})

describe('listening', () => {
  test('where another program does is a clear error', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as { port: number }
    const attempt = listenBedrock({ host: '127.0.0.1', port, answer: () => ({ code: 200, text: 'OK' }) })
    await expect(attempt).rejects.toMatchObject({ code: 'LISTEN_FAILED', message: expect.stringContaining(`:${port}`) })
    await new Promise((resolve) => other.close(resolve))
  })

  test('takes no more connections than its bound', async () => {
    const ground = await listening({ limits: { connections: 2 } })
    const [first, second] = [await ground.client(), await ground.client()]
    const third = await ground.client()
    expect(await third.all()).toBe('')
    first.socket.destroy()
    second.send('Ping\n\n')
    expect(await second.reply()).toBe(echoOf('Ping'))
  })

  test('knows who asks', async () => {
    const peers: unknown[] = []
    const ground = await listening({
      answer: (_, { remoteAddress, isLoopback, isListening }) => {
        peers.push({ remoteAddress, isLoopback, isListening })
        return { code: 200, text: 'OK' }
      },
    })
    const client = await ground.client()
    client.send('Ping\n\n')
    await client.reply()
    expect(peers).toEqual([{ remoteAddress: '127.0.0.1', isLoopback: true, isListening: true }])
  })
})

describe('what many clients begin and do not end', () => {
  const part = (bytes: number) => `CreateJob\ndata: ${'x'.repeat(bytes)}`

  test('takes no more memory than its bound: large ones are refused then, small ones never', async () => {
    const ground = await listening({ limits: { unfinishedBytes: 2_000_000 } })
    const [first, second, small] = [await ground.client(), await ground.client(), await ground.client()]
    first.send(part(700_000))
    second.send(part(700_000))
    const refused = await Promise.race([first.all().then(() => first), second.all().then(() => second)])
    expect(refused.received).toBe('402 Request too large\r\nContent-Length: 0\r\n\r\n')
    small.send('Ping\n\n')
    expect(await small.reply()).toBe(echoOf('Ping'))
    const other = refused === first ? second : first
    other.send('\n\n')
    expect(await other.reply()).toBe(echoOf('CreateJob'))
  })

  test('is counted no longer than it is kept', async () => {
    const ground = await listening({ limits: { unfinishedBytes: 2_000_000 } })
    for (let round = 0; round < 5; round++) {
      const gone = await ground.client()
      gone.send(part(700_000))
      await until(() => gone.socket.writableLength === 0)
      gone.socket.destroy()
      const client = await ground.client()
      client.send(`${part(700_000)}\n\n`)
      const answers = await client.replies(1).catch(() => [])
      // The server may not have heard yet that the other one is gone.
      if (answers.length === 0 || answers[0]?.startsWith('402')) round--
      else expect(answers).toEqual([echoOf('CreateJob')])
    }
  })
})

describe('an encrypted listener', () => {
  test('answers in order, also a client that has closed its side, and stops during a handshake', async () => {
    const ground = await listening({ tls: certificate })
    const { port } = ground.listener.address
    const silent = await wireClient(port)
    const halfOpen = { allowHalfOpen: true }
    const socket = connectTls({ port, host: '127.0.0.1', ca: certificate.cert, ...halfOpen })
    let received = ''
    socket.on('data', (bytes) => {
      received += String(bytes)
    })
    socket.end('A\n\nB\n\n')
    await until(() => received === `${echoOf('A')}${echoOf('B')}`)
    await until(() => socket.destroyed || socket.readableEnded)
    socket.destroy()
    const stopping = ground.listener.stop({ graceMs: 1_000 })
    await ground.clock.advance(1_000)
    await stopping
    await until(() => silent.isClosed)
  })
})

describe('whatever clients do', () => {
  test('bytes of any kind end in replies or a closed connection, and others are served on', async () => {
    const ground = await listening({ limits: { headerBytes: 2_000, bodyBytes: 2_000, headers: 20 } })
    const steady = await ground.client()
    const bits = fc.oneof(
      fc.constantFrom(
        '\n',
        '\n\n',
        '\r\n\r\n',
        'Ping\n\n',
        'Content-Length: 9\n',
        'Transfer-Encoding: chunked\n\n',
        'timeout: 1\n',
      ),
      fc.constantFrom('Connection: close\n', 'Connection: forget\n', ':', '\\u', '\0'),
      fc.string({ maxLength: 30 }),
      fc.uint8Array({ maxLength: 40 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(bits, { maxLength: 12 }), fc.constantFrom('end', 'destroy', 'reset'), async (all, ending) => {
        const client = await ground.client()
        for (const bit of all) client.send(Buffer.from(bit as string))
        if (ending === 'end') client.socket.end()
        else if (ending === 'destroy') client.socket.destroy()
        else client.socket.resetAndDestroy()
        await until(() => client.isClosed)
        client.socket.destroy()
        steady.send('Ping\n\n')
        expect(await steady.reply()).toBe(echoOf('Ping'))
      }),
      { numRuns: 300, seed: 1 },
    )
    expect(ground.log).toEqual([])
  })

  test('thousands that come and vanish leave nothing behind', async () => {
    const { open, opened } = gate()
    const gone = { count: 0, undelivered: 0 }
    const ground = await listening({
      answer: async (_, { signal }) => {
        signal.addEventListener('abort', () => void gone.count++)
        await opened
        return { code: 200, text: 'OK', undelivered: () => void gone.undelivered++ }
      },
    })
    for (let round = 0; round < 20; round++) {
      const clients = await Promise.all(Array.from({ length: 100 }, () => ground.client()))
      for (const [index, client] of clients.entries()) {
        if (index % 2 === 0) client.send('GetJob\n\n')
        else client.send('half')
      }
      await until(() => ground.requests.length === (round + 1) * 50)
      for (const client of clients) client.socket.resetAndDestroy()
    }
    await until(() => gone.count === 1_000)
    open()
    await until(() => gone.undelivered === 1_000)
    await ground.listener.stop({ graceMs: 0 })
    expect(ground.clock.nextTimerAt).toBe(null)
  })
})

describe('the client of PHP', () => {
  test('sends CRLF, a length and doubled backslashes, and finds exact lengths', async () => {
    const ground = await listening({
      answer: () => ({ code: 200, text: 'OK', headers: { commitCount: '1' }, body: '{"jobID":1}' }),
    })
    const client = await ground.client()
    const lines = [
      'CreateJob',
      'name: www-prod/SendEmail',
      'data: {"text":"a\\\\nb","path":"c:\\\\\\\\d"}',
      'unique: false',
      'jobPriority: 500',
      'Connection: wait',
      'overwrite: true',
      'writeConsistency: ASYNC',
      'timeout: 110000',
      'Content-Length: 0',
    ]
    for (let turn = 0; turn < 3; turn++) {
      client.send(`${lines.join('\r\n')}\r\n\r\n`)
      expect(await client.reply()).toBe('200 OK\r\ncommitCount: 1\r\nContent-Length: 11\r\n\r\n{"jobID":1}')
    }
    expect(JSON.parse(ground.requests[0]?.headers.get('data') as string)).toEqual({ text: 'a\nb', path: 'c:\\d' })
  })
})
