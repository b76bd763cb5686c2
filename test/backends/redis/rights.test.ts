import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Services } from '../../../scripts/services/start.mjs'
import { silentLogger } from '../../../src/core/logger.ts'
import { nextTurn } from '../../../src/core/time/clock.ts'
import { openRedis } from '../../../src/engines/redis/index.ts'
import { treadle } from '../../../src/index.ts'
import { until } from '../../../src/testing/conformance/bench.ts'
import { canStart, ownServices } from '../../services.ts'
import { rawClient } from '../redis-ground.ts'

describe.each(['redis', 'valkey'] as const)('a user of a %s server', (engine) => {
  let services: Services
  let port: number
  beforeAll(async () => {
    services = await ownServices([engine])
    port = Number(new URL(services.servers[engine].url).port)
  })
  afterAll(() => services.stop())
  beforeEach(({ skip }) => skip(!canStart(engine), `${engine} is not installed`))

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
    { missing: 'access', rules: ['~other:*', '&*', '+@all'] },
  ])('without the right to $missing is refused when the queue is opened', async ({ missing, rules }) => {
    const url = await userWith(`without-${missing}`, ...rules)
    await expect(openRedis({ url, logger: silentLogger })).rejects.toMatchObject({
      code: 'DATABASE_DENIED',
      message: expect.stringContaining(missing),
    })
    await using client = await rawClient(`redis://127.0.0.1:${port}`)
    expect(await client.keys('{treadle}:rights*')).toEqual([])
  })

  test('may lose and regain the right to its database: nothing is written to another one', async () => {
    const url = `${await userWith('selecting', '~{treadle}:*', '&{treadle}:*', '+@all')}/1`
    await using admin = await rawClient(`redis://127.0.0.1:${port}`)
    await admin.flushall()
    const jobs = treadle(`${url}?timeout=200ms`, { unsigned: true, logger: silentLogger })
    const job = jobs.declare('greet')
    await job.dispatch('Ada')
    await admin.call('ACL', 'SETUSER', 'selecting', '-select')
    await admin.call('CLIENT', 'KILL', 'USER', 'selecting')
    await expect(job.dispatch('Bob')).rejects.toMatchObject({
      code: 'DATABASE_DENIED',
      message: expect.stringContaining('select'),
    })
    expect(await admin.dbsize()).toBe(0)
    await admin.call('ACL', 'SETUSER', 'selecting', '+select')
    while (!/ db=1 .* user=selecting/.test(String(await admin.call('CLIENT', 'LIST')))) await nextTurn()
    await job.dispatch('Bob')
    expect(await admin.dbsize()).toBe(0)
    await jobs.close()
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
