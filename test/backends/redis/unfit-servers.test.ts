import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { openRedis } from '../../../src/engines/redis/index.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { canStart } from '../../services.ts'
import { freePorts, OwnServers, patientClient } from './own-servers.ts'

describe.skipIf(!canStart('redis'))('a Redis server without a command that the queue needs', () => {
  test.each(['PUBLISH', 'EVALSHA', 'ZMSCORE'])(
    'is refused when it is opened, before a script does a half of its work: %s',
    async (name) => {
      await using servers = new OwnServers()
      const [port] = (await freePorts(1)) as [number]
      servers.start(port, '--rename-command', name, '')
      await using client = patientClient(port)
      await client.ping()
      await expect(openRedis({ url: `redis://127.0.0.1:${port}`, logger: silentLogger })).rejects.toMatchObject({
        code: 'CAPABILITY_MISSING',
        message: expect.stringContaining(`does not know ${name}, which the queue needs: see "rename-command"`),
      })
    },
  )
})

describe.skipIf(!canStart('redis'))('a key of a queue that something else has written, on a server that renames no keys', () => {
  test('is told as what it is', async () => {
    await using servers = new OwnServers()
    const [port] = (await freePorts(1)) as [number]
    servers.start(port, '--rename-command', 'RENAME', '')
    await using client = patientClient(port)
    await client.ping()
    const clock = new ManualClock()
    await using backend = await openRedis({ url: `redis://127.0.0.1:${port}`, clock, logger: silentLogger })
    await client.set('{treadle}:h', 'of another program')
    await expect(new Bench(backend, clock).sendOne()).rejects.toMatchObject({
      code: 'DATABASE_FAILED',
      message: expect.stringMatching(/WRONGTYPE.*Something else writes to the keys of this queue: give each a prefix of its own/),
    })
  })
})
