import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { openRedis } from '../../../src/engines/redis/index.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { canStart } from '../../services.ts'
import { TcpProxy } from '../sql/tcp-proxy.ts'
import { freePorts, OwnServers, patientClient } from './own-servers.ts'

describe.skipIf(!canStart('redis'))('a Redis server that became a replica, and keeps its connections open', () => {
  test('is left for the one that its name leads to now', async () => {
    await using servers = new OwnServers()
    const [first, second] = (await freePorts(2)) as [number, number]
    servers.start(first)
    servers.start(second)
    await using one = patientClient(first)
    await using other = patientClient(second)
    await Promise.all([one.ping(), other.ping()])
    await using proxy = await TcpProxy.before(`redis://127.0.0.1:${first}`)
    const clock = new ManualClock()
    const backend = await openRedis({ url: proxy.url, clock, logger: silentLogger })
    const bench = new Bench(backend, clock)
    await bench.sendOne()
    await other.call('REPLICAOF', '127.0.0.1', `${first}`)
    while (!(await other.info('replication')).includes('master_link_status:up')) await other.ping()
    await other.call('REPLICAOF', 'NO', 'ONE')
    await one.call('REPLICAOF', '127.0.0.1', `${second}`)
    // What is not tried again tells it at once.
    await expect(backend.store.setPaused({ queue: 'mail' }, true)).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringMatching(/is a replica and takes no writes\. Name the primary/),
    })
    proxy.leadTo(`redis://127.0.0.1:${second}`)
    await bench.sendOne()
    expect(await bench.claimedIds({ limit: 9 })).toHaveLength(2)
    await backend[Symbol.asyncDispose]()
  })
})
