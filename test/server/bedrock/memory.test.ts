import { expect, test } from 'vitest'
import type { BedrockReply } from '../../../src/server/bedrock/wire/reply.ts'
import { until } from '../../world.ts'
import { echoOf, listening } from './wire.ts'

const refused = '500 Refused\r\nContent-Length: 0\r\n\r\n'

test.each(['commandExecuteTime: 99999999999999999', 'Connection: forget'])(
  'requests with %s hold no more than their bound together',
  async (header) => {
    const never = new Promise<BedrockReply>(() => {})
    const ground = await listening({ answer: () => never, limits: { forgottenBytes: 1_000_000 } })
    const answers: string[] = []
    for (let request = 0; request < 5; request++) {
      const client = await ground.client()
      client.send(`CreateJob\n${header}\ndata: ${'x'.repeat(300_000)}\n\n`)
      answers.push(await client.all())
    }
    expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['202', '202', '202', '500', '500'])
    expect(answers[3]).toBe(refused)
  },
)

test('requests that are being carried out count as well, whatever their headers are', async () => {
  const never = new Promise<BedrockReply>(() => {})
  const ground = await listening({
    answer: ({ verb }) => (verb === 'getjob' ? never : { code: 200, text: 'OK' }),
    limits: { unfinishedBytes: 1_000_000 },
  })
  const waiting = await ground.client()
  waiting.send(`GetJob\nx: ${'x'.repeat(400_000)}\n\n`)
  await until(() => ground.requests.length === 1)
  const [large, small] = [await ground.client(), await ground.client()]
  large.send(`CreateJob\nx: ${'x'.repeat(700_000)}\n\n`)
  expect(await large.replies(1)).toMatchObject([expect.stringMatching(/^(?:500 Refused|402 Request too large)/)])
  small.send('Ping\n\n')
  expect(await small.reply()).toMatch(/^200/)
  waiting.socket.destroy()
  const next = await ground.client()
  await until(async () => {
    next.send('Ping\n\n')
    return (await next.reply()).startsWith('200')
  })
})

test('of replies that nobody reads, those that have waited the longest make room', async () => {
  const body = 'x'.repeat(16 * 1024 * 1024)
  const ground = await listening({ answer: () => ({ code: 200, text: 'OK', body }), limits: { unreadBytes: 20 * 1024 * 1024 } })
  const [first, second] = [await ground.client(), await ground.client()]
  first.socket.pause()
  first.send('A\n\n')
  await until(() => ground.requests.length === 1)
  second.socket.pause()
  second.send('B\n\n')
  await until(() => ground.requests.length === 2)
  second.socket.resume()
  expect((await second.reply()).length).toBeGreaterThan(body.length)
  first.socket.resume()
  await until(() => first.isClosed)
  expect(first.received.length).toBeLessThan(body.length)
})

test('a reply is still given to a client that reads', async () => {
  const client = await (await listening({ limits: { unreadBytes: 1 } })).client()
  client.send('Ping\n\n')
  expect(await client.reply()).toBe(echoOf('Ping'))
})
