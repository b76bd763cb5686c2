import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { whenReady } from '../../../src/engines/redis/connections/connection.ts'
import { freePorts } from './own-servers.ts'

test('any number of calls that wait for a server listen to its client once, and leave nothing behind', async () => {
  const [port = 0] = await freePorts(1)
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => null })
  const listeners = () => client.listenerCount('error')
  const before = listeners()
  const calls = Array.from({ length: 30 }, () => whenReady(client, 60_000, 'a test', true))
  expect(listeners()).toBe(before + 1)
  const unreachable = { status: 'rejected', reason: { code: 'DATABASE_UNREACHABLE' } }
  expect(await Promise.allSettled(calls)).toMatchObject(calls.map(() => unreachable))
  expect(listeners()).toBe(before)
  client.disconnect()
})
