import { describe, expect, test } from 'vitest'
import type { BedrockPeer } from '../../../src/server/bedrock/connections/peer.ts'
import type { BedrockReply } from '../../../src/server/bedrock/wire/reply.ts'
import { gate, until } from '../../world.ts'
import { echoOf, listening } from './wire.ts'

const timeout = '555 Timeout\r\nContent-Length: 0\r\n\r\n'
const queued = '202 Successfully queued\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

/** Answers when it is told to, and notes who asked and what became of the reply. */
function heldAnswers() {
  const held: { readonly method: string; readonly peer: BedrockPeer; reply(reply?: Partial<BedrockReply>): void }[] = []
  const undelivered: string[] = []
  return {
    held,
    undelivered,
    answer: ({ method }: { method: string }, peer: BedrockPeer) => {
      const { open, opened } = gate<BedrockReply>()
      const reply = (changes: Partial<BedrockReply> = {}) =>
        open({ code: 200, text: 'OK', body: method, undelivered: () => void undelivered.push(method), ...changes })
      held.push({ method, peer, reply })
      return opened
    },
  }
}

describe('requests that are sent ahead', () => {
  test('are answered in their order, each when the one before is', async () => {
    const { answer, held } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.send('A\n\nB\nx: 1\n\nC\r\n\r\n')
    for (const [index, name] of ['A', 'B', 'C'].entries()) {
      await until(() => held.length > index)
      expect(held).toHaveLength(index + 1)
      held[index]?.reply()
      expect(await client.reply()).toBe(echoOf(name))
    }
  })

  test('are all answered, however many there are', async () => {
    const client = await (await listening()).client()
    const names = Array.from({ length: 5_000 }, (_, index) => `Ping${index}`)
    client.send(names.map((name) => `${name}\nname: ${'x'.repeat(50)}\n\n`).join(''))
    expect(await client.replies(5_000)).toEqual(names.map(echoOf))
  })

  test('are read no further ahead than a bound while one is carried out', async () => {
    const { answer, held } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.send('A\n\n')
    await until(() => held.length === 1)
    client.send(Buffer.alloc(32 * 1024 * 1024, 'B\n\n'))
    await until(() => client.socket.writableLength > 0)
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(client.socket.writableLength).toBeGreaterThan(1024 * 1024)
    held[0]?.reply()
    expect(await client.reply()).toBe(echoOf('A'))
    await until(() => held.length === 2)
  })
})

describe('a client that closes its sending side', () => {
  test('still gets its replies, and then the end', async () => {
    const { answer, held } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.socket.end('A\n\nB\n\nhalf a req')
    await until(() => held.length === 1)
    await ground.clock.advance(1)
    held[0]?.reply({ undelivered: () => {} })
    await until(() => held.length === 2)
    held[1]?.reply()
    expect(await client.replies(2)).toEqual([echoOf('A'), echoOf('B')])
    await ground.clock.advance(100)
    expect(await client.all()).toBe('')
  })

  test('behind its request may take its time; a while later, it has given up', async () => {
    const { answer, held } = heldAnswers()
    const ground = await listening({ answer })
    const [pipe, worker, other] = [await ground.client(), await ground.client(), await ground.client()]
    worker.send('GetJob\n\n')
    await until(() => held.length === 1)
    await ground.clock.advance(1_001)
    pipe.socket.end('GetJob\n\n')
    await until(() => held.length === 2)
    worker.socket.end()
    await until(() => held[0]?.peer.closing.aborted === true)
    // What the first two have sent was read before this.
    other.send('Ping\n\n')
    await until(() => held.length === 3)
    expect(held.map(({ peer }) => [peer.closing.aborted, peer.signal.aborted])).toEqual([
      [true, false],
      [false, false],
      [false, false],
    ])
  })

  test('with nothing asked is closed at once', async () => {
    const client = await (await listening()).client()
    client.socket.end()
    expect(await client.all()).toBe('')
  })
})

describe('a client that is gone', () => {
  test('is told to the one who works for it, and its reply is undelivered', async () => {
    const { answer, held, undelivered } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.send('GetJob\n\n')
    await until(() => held.length === 1)
    client.socket.resetAndDestroy()
    await until(() => held[0]?.peer.signal.aborted === true)
    held[0]?.reply()
    await until(() => undelivered.length === 1)
  })

  test('after it has sent its request does not take the reply with it', async () => {
    const { answer, held, undelivered } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.send('GetJob\n\n')
    await until(() => held.length === 1)
    await ground.clock.advance(1_001)
    client.socket.destroy()
    await until(() => held[0]?.peer.closing.aborted === true)
    held[0]?.reply()
    await until(() => ground.clock.nextTimerAt !== null)
    await ground.clock.advance(60)
    await until(() => undelivered.length === 1)
  })

  test('after it has said its last word is found out while its next request is carried out', async () => {
    const { answer, held } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.socket.end('GetJob\n\nGetJob\nconnection: wait\n\n')
    await until(() => held.length === 1)
    client.socket.destroy()
    await until(() => client.socket.closed)
    held[0]?.reply()
    await until(() => held.length === 2)
    await until(async () => {
      await ground.clock.advance(10_000)
      return held[1]?.peer.signal.aborted === true
    })
  })

  test('when the reply is on its way already does not take it with it', async () => {
    const undelivered: string[] = []
    const answer = () => ({ code: 200, text: 'OK', undelivered: () => void undelivered.push('lost') })
    const ground = await listening({ answer })
    const client = await ground.client()
    client.socket.write('GetJob\n\n', () => client.socket.destroy())
    await until(async () => {
      await ground.clock.advance(60)
      return undelivered.length === 1
    })
  })

  test('with unread replies takes none of them with it', async () => {
    const { answer, held, undelivered } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.socket.pause()
    client.send('GetJob\n\n')
    await until(() => held.length === 1)
    held[0]?.reply({ body: 'x'.repeat(32 * 1024 * 1024) })
    await new Promise((resolve) => setImmediate(resolve))
    client.socket.destroy()
    await until(() => undelivered.length === 1)
  })

  test('after it has read its reply loses nothing', async () => {
    const { answer, held, undelivered } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.send('GetJob\n\n')
    await until(() => held.length === 1)
    held[0]?.reply()
    await client.reply()
    client.socket.end()
    await until(async () => {
      await ground.clock.advance(60)
      return client.isClosed
    })
    expect(undelivered).toEqual([])
  })
})

describe('Connection: close', () => {
  test.each([
    ['close', `200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nPing`],
    ['Close', echoOf('Ping')],
  ])('%s is answered, and then the connection ends', async (value, reply) => {
    const client = await (await listening()).client()
    client.send(`Ping\nConnection: ${value}\n\nPing\n\n`)
    expect(await client.all()).toBe(reply)
  })
})

describe('Connection: forget', () => {
  test('is answered at once and carried out all the same; the reply reaches nobody', async () => {
    const { answer, held, undelivered } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.send('GetJob\nConnection: Forget\n\n')
    expect(await client.all()).toBe(queued)
    expect(held[0]?.peer.isListening).toBe(false)
    held[0]?.reply()
    await until(() => undelivered.length === 1)
  })

  test('is ended after an hour', async () => {
    const { answer, held } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.send('CreateJob\nConnection: forget\n\n')
    await client.all()
    await ground.clock.advance(3_599_000)
    expect(held[0]?.peer.signal.aborted).toBe(false)
    await ground.clock.advance(1_000)
    expect(held[0]?.peer.signal.aborted).toBe(true)
  })

  test('is refused where too much is waiting', async () => {
    const { answer } = heldAnswers()
    const ground = await listening({ answer, limits: { forgotten: 1 } })
    const [first, second] = [await ground.client(), await ground.client()]
    first.send('A\nConnection: forget\n\n')
    expect(await first.all()).toBe(queued)
    second.send('B\nConnection: forget\n\n')
    expect(await second.all()).toBe('500 Refused\r\nContent-Length: 0\r\n\r\n')
  })
})

describe('commandExecuteTime', () => {
  test('in the future: queued, and carried out then', async () => {
    const ground = await listening()
    const client = await ground.client()
    client.send(`CreateJob\ncommandExecuteTime: ${(ground.clock.now() + 60_000) * 1_000}\n\n`)
    expect(await client.all()).toBe(queued)
    await ground.clock.advance(59_999)
    expect(ground.requests).toHaveLength(0)
    await ground.clock.advance(1)
    expect(ground.requests).toHaveLength(1)
  })

  test('in the past: carried out at once', async () => {
    const ground = await listening()
    const client = await ground.client()
    client.send(`Ping\ncommandExecuteTime: ${(ground.clock.now() - 1) * 1_000}\n\n`)
    expect(await client.reply()).toBe(echoOf('Ping'))
  })

  test('is not carried out after a stop, which says so', async () => {
    const ground = await listening()
    const client = await ground.client()
    client.send(`CreateJob\ncommandExecuteTime: ${(ground.clock.now() + 60_000) * 1_000}\n\n`)
    await client.all()
    client.socket.end()
    await ground.listener.stop({ graceMs: 0 })
    await ground.clock.advance(60_000)
    expect(ground.requests).toHaveLength(0)
    expect(ground.log).toContainEqual(expect.stringContaining('1 requests with a later commandExecuteTime'))
  })
})

describe('time', () => {
  test.each(['0', '-5', 'soon', ''])('a timeout of %j leaves none', async (value) => {
    const ground = await listening()
    const client = await ground.client()
    client.send(`Ping\ntimeout: ${value}\n\nPing\n\n`)
    expect(await client.replies(2)).toEqual([timeout, echoOf('Ping')])
  })

  test.each([
    ['the usual time', '', 110_000],
    ['its own time', 'timeout: 2000\n', 2_000],
  ])('a request is ended after %s, and the next is begun', async (_, header, ms) => {
    const { answer, held, undelivered } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.send(`A\n${header}\nB\n\n`)
    await until(() => held.length === 1)
    await ground.clock.advance(ms - 1)
    expect(held[0]?.peer.signal.aborted).toBe(false)
    await ground.clock.advance(1)
    expect(held[0]?.peer.signal.aborted).toBe(true)
    expect(await client.reply()).toBe(timeout)
    held[0]?.reply()
    await until(() => undelivered.length === 1 && held.length === 2)
    held[1]?.reply()
    expect(await client.reply()).toBe(echoOf('B'))
  })

  test('a request that waits is given its own time and the usual one', async () => {
    const { answer, held } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.send('GetJob\nConnection: wait\ntimeout: 60000\n\n')
    await until(() => held.length === 1)
    expect(held[0]?.peer.timeoutMs).toBe(60_000)
    await ground.clock.advance(169_999)
    expect(held[0]?.peer.signal.aborted).toBe(false)
    await ground.clock.advance(1)
    expect(await client.reply()).toBe(timeout)
  })

  test('a request that waits for ever may', async () => {
    const { answer, held } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.send('GetJob\nConnection: wait\n\n')
    await until(() => held.length === 1)
    await ground.clock.advance(10 * 24 * 3_600_000)
    held[0]?.reply()
    expect(await client.reply()).toBe(echoOf('GetJob'))
  })

  test('a request that begins and does not go on is ended with its connection', async () => {
    const ground = await listening()
    const client = await ground.client()
    client.send('Get')
    await until(() => ground.clock.nextTimerAt !== null)
    await ground.clock.advance(59_000)
    client.send('Job')
    await until(async () => {
      await ground.clock.advance(0)
      return ground.clock.nextTimerAt === ground.clock.now() + 1_000
    })
    expect(client.isClosed).toBe(false)
    await ground.clock.advance(1_000)
    await ground.clock.advance(60_000)
    expect(await client.all()).toBe(timeout)
  })

  test('a connection on which nothing happens is left alone and has no timer', async () => {
    const ground = await listening()
    const client = await ground.client()
    await ground.clock.advance(1)
    expect(ground.clock.nextTimerAt).toBe(null)
    await ground.clock.advance(3_600_000)
    client.send('Ping\n\n')
    expect(await client.reply()).toBe(echoOf('Ping'))
  })

  test('a client that does not read its replies is closed', async () => {
    const { answer, held, undelivered } = heldAnswers()
    const ground = await listening({ answer })
    const client = await ground.client()
    client.socket.pause()
    client.send('A\n\nB\n\n')
    await until(() => held.length === 1)
    held[0]?.reply({ body: 'x'.repeat(32 * 1024 * 1024) })
    await until(() => ground.clock.nextTimerAt !== null)
    await ground.clock.advance(120_000)
    await until(() => undelivered.length === 1)
    expect(held).toHaveLength(1)
  })
})

describe('what cannot be read', () => {
  test('is refused and ends the connection where it is too large', async () => {
    const ground = await listening({ limits: { headerBytes: 1_000 } })
    const client = await ground.client()
    client.send(`Ping\n\nCreateJob\ndata: ${'x'.repeat(1_000)}`)
    expect(await client.all()).toBe(`${echoOf('Ping')}402 Request too large\r\nContent-Length: 0\r\n\r\n`)
  })

  test('is dropped without a word where its length is none', async () => {
    const client = await (await listening()).client()
    client.send('Ping\n\nPing\nContent-Length: x\n\n')
    expect(await client.all()).toBe(echoOf('Ping'))
  })
})

describe('an answer that throws', () => {
  test.each([
    ['at once', () => Promise.reject(new Error('no disk'))],
    [
      'later',
      () => {
        throw new Error('no disk')
      },
    ],
  ])('%s is told as such and logged, and the connection lives on', async (_, answer) => {
    const ground = await listening({ answer })
    const client = await ground.client()
    client.send('CreateJob\n\nCreateJob\n\n')
    const reply = '500 Unhandled Exception\r\nContent-Length: 0\r\n\r\n'
    expect(await client.replies(2)).toEqual([reply, reply])
    expect(ground.log).toContain('error "createjob" from 127.0.0.1 failed: no disk')
  })
})

describe('the token', () => {
  const unauthorized = '401 Unauthorized\r\nContent-Length: 0\r\n\r\n'

  test.each(['token: s3cret', 'Token:s3cret', 'Authorization: Bearer s3cret', 'authorization: bearer  s3cret'])(
    'is shown once by %s',
    async (header) => {
      const client = await (await listening({ token: 's3cret' })).client()
      client.send(`Ping\n\nPing\n${header}\n\nPing\n\n`)
      expect(await client.replies(3)).toEqual([unauthorized, echoOf('Ping'), echoOf('Ping')])
    },
  )

  test.each(['token: wrong', 'token:', 'Authorization: Basic s3cret'])('is not %s, also where it was shown', async (header) => {
    const ground = await listening({ token: 's3cret' })
    const client = await ground.client()
    client.send(`Ping\n${header}\n\nPing\ntoken: s3cret\n\nPing\n${header}\n\nPing\n\n`)
    expect(await client.replies(4)).toEqual([unauthorized, echoOf('Ping'), unauthorized, unauthorized])
    expect(ground.requests).toHaveLength(1)
  })

  test('is not asked for where the request needs none', async () => {
    const client = await (await listening({ token: 's3cret', needsToken: ({ verb }) => verb !== 'get' })).client()
    client.send('GET /status HTTP/1.1\n\nPing\nConnection: forget\n\n')
    expect(await client.replies(2)).toEqual([echoOf('GET /status HTTP/1.1'), unauthorized])
  })
})
