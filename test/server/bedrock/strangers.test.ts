import { describe, expect, test } from 'vitest'
import { until } from '../../world.ts'
import { echoOf, listening } from './wire.ts'

const token = 'a secret token'
const tooLarge = '402 Request too large\r\nContent-Length: 0\r\n\r\n'
const unauthorized = '401 Unauthorized\r\nContent-Length: 0\r\n\r\n'
const timeout = '555 Timeout\r\nContent-Length: 0\r\n\r\n'

describe('who has not shown a token', () => {
  test.each([
    ['headers', `Ping\nx: ${'x'.repeat(70_000)}\n\n`],
    ['headers that do not end', `Ping\nx: ${'x'.repeat(70_000)}`],
    ['a body', `Ping\nContent-Length: 70000\n\n${'x'.repeat(70_000)}`],
    ['a wrong token', `Ping\ntoken: wrong\nx: ${'x'.repeat(70_000)}\n\n`],
  ])('may not send more than 64 KiB of %s', async (_, text) => {
    const client = await (await listening({ token })).client()
    client.send(text)
    expect(await client.all()).toBe(tooLarge)
  })

  test('may send a large request that begins with its token', async () => {
    const client = await (await listening({ token })).client()
    client.send(`Ping\ntoken: ${token}\nx: ${'x'.repeat(1_000_000)}\n\nPing\nContent-Length: 500000\n\n${'x'.repeat(500_000)}`)
    expect(await client.replies(2)).toEqual([echoOf('Ping'), echoOf('Ping')])
  })

  test('has ten seconds for a request, however often a byte comes', async () => {
    const ground = await listening({ token })
    const [slow, other] = [await ground.client(), await ground.client()]
    for (let second = 0; second < 10; second++) {
      slow.send('P')
      other.send('Ping\n\n')
      await other.reply().catch(() => '')
      await ground.clock.advance(1_000)
    }
    expect(await slow.all()).toBe(timeout)
  })

  test('has a minute in all before it is sent away', async () => {
    const ground = await listening({ token })
    const idle = await ground.client()
    await until(async () => {
      await ground.clock.advance(10_000)
      return idle.isClosed
    })
    expect(await idle.all()).toBe(timeout)
  })

  test('is sent away after ten refused requests', async () => {
    const client = await (await listening({ token })).client()
    client.send('Ping\n\n'.repeat(20))
    expect(await client.all()).toBe(unauthorized.repeat(10))
  })

  test('takes the place of others of its own address, and of nobody who has shown one', async () => {
    const ground = await listening({ token, limits: { strangers: { perAddress: 2, total: 10 } } })
    const known = await ground.client()
    known.send(`Ping\ntoken: ${token}\n\n`)
    await known.reply()
    const first = await ground.client()
    await ground.client()
    const third = await ground.client()
    await until(() => first.isClosed)
    third.send('Ping\n\n')
    expect(await third.reply()).toBe(unauthorized)
    known.send('Ping\n\n')
    expect(await known.reply()).toBe(echoOf('Ping'))
  })
})

describe('wrong tokens', () => {
  test('are looked at ever later, and so are right ones from the same address', async () => {
    const ground = await listening({ token })
    const client = await ground.client()
    for (let guess = 0; guess < 8; guess++) {
      client.send(`Ping\ntoken: guess ${guess}\n\n`)
      await until(async () => {
        await ground.clock.advance(100)
        return client.received !== ''
      })
      expect(await client.reply()).toBe(unauthorized)
    }
    const right = await ground.client()
    right.send(`Ping\ntoken: ${token}\n\n`)
    const other = await ground.client()
    other.send('Ping\n\n')
    expect(await other.reply()).toBe(unauthorized)
    expect(right.received).toBe('')
    await ground.clock.advance(5_000)
    expect(await right.reply()).toBe(echoOf('Ping'))
    // What it has shown once is not looked at again.
    right.send(`Ping\ntoken: ${token}\n\n`)
    expect(await right.reply()).toBe(echoOf('Ping'))
  })
})
