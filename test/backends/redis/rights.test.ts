import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { openRedis } from '../../../src/engines/redis/index.ts'
import { treadle } from '../../../src/index.ts'
import { until } from '../../../src/testing/conformance/bench.ts'
import { canStart } from '../../services.ts'
import { rawClient } from '../redis-ground.ts'
import { freePorts, OwnServers, patientClient } from './own-servers.ts'

describe.skipIf(!canStart('redis'))('a user of a Redis server', () => {
  let servers: OwnServers
  let port: number
  beforeAll(async () => {
    servers = new OwnServers()
    ;[port] = (await freePorts(1)) as [number]
    servers.start(port)
    await using client = patientClient(port)
    await client.ping()
  })
  afterAll(() => servers[Symbol.asyncDispose]())

  async function userWith(name: string, ...rules: readonly string[]): Promise<string> {
    await using client = await rawClient(`redis://127.0.0.1:${port}`)
    await client.call('ACL', 'SETUSER', name, 'on', '>secret', ...rules)
    return `redis://${name}:secret@127.0.0.1:${port}`
  }

  test('needs only the keys and the channels of the queue, and no dangerous command', async () => {
    const url = await userWith('few', '~{treadle}:*', '&{treadle}:*', '+@all', '-@dangerous')
    const told: string[] = []
    const logger = { ...silentLogger, warn: (text: string) => told.push(text) }
    const jobs = treadle(url, { unsigned: true, logger })
    const job = jobs.define('greet', async (name: string) => `hello ${name}`).concurrency(1)
    const working = jobs.work({ signals: false })
    expect(await (await job.dispatch('Ada')).result({ timeout: '30s' })).toBe('hello Ada')
    await jobs.close()
    await working
    expect(told).toEqual([expect.stringMatching(/may not read the settings \(\+info \+config\|get\).*noeviction/)])
  })

  test.each([
    { missing: 'PUBLISH', rules: ['~*', 'resetchannels', '+@all'] },
    { missing: 'HSET', rules: ['~*', '&*', '+@all', '-hset'] },
    { missing: 'ZRANGEBYLEX', rules: ['~*', '&*', '+@all', '-zrangebylex'] },
    { missing: 'evalsha', rules: ['~*', '&*', '+@all', '-@scripting'] },
    { missing: 'keys', rules: ['~other:*', '&*', '+@all'] },
  ])('without the right to $missing is refused when the queue is opened', async ({ missing, rules }) => {
    const url = await userWith(`without-${missing}`, ...rules)
    await expect(openRedis({ url, logger: silentLogger })).rejects.toMatchObject({
      code: 'DATABASE_DENIED',
      message: expect.stringContaining(missing),
    })
    await using client = await rawClient(`redis://127.0.0.1:${port}`)
    expect(await client.keys('{treadle}:rights*')).toEqual([])
  })

  test('may lose and regain the right to listen: the program goes on, and listens again', async () => {
    const url = await userWith('listening', '~{treadle}:*', '&{treadle}:*', '+@all')
    await using admin = await rawClient(`redis://127.0.0.1:${port}`)
    await using backend = await openRedis({ url, logger: silentLogger })
    const watch = backend.watch(() => {})
    await until(() => watch.isPush, 'it listens')
    // The server ends the connection, because it listens to a channel that is no longer its own.
    await admin.call('ACL', 'SETUSER', 'listening', 'resetchannels')
    await until(() => !watch.isPush, 'it does not listen')
    await untilRefused(admin, 'subscribe')
    await admin.call('ACL', 'SETUSER', 'listening', '&{treadle}:*')
    await admin.call('CLIENT', 'KILL', 'USER', 'listening')
    await until(() => watch.isPush, 'it listens again')
    watch.close()
  })
})

async function untilRefused(admin: Awaited<ReturnType<typeof rawClient>>, command: string): Promise<void> {
  let log: unknown
  do {
    log = await admin.call('ACL', 'LOG', '10')
  } while (!JSON.stringify(log).includes(`cmd=${command}`))
}
