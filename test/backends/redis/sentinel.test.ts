import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { treadle } from '../../../src/index.ts'
import { until } from '../../../src/testing/conformance/bench.ts'
import { canStart } from '../../services.ts'
import { end, freePorts, OwnServers, patientClient } from './own-servers.ts'

describe.skipIf(!canStart('redis'))('a queue behind a Sentinel', () => {
  test('goes on at the replica when the primary dies, with all that was copied', async () => {
    await using servers = new OwnServers()
    const [first, second, sentinel] = (await freePorts(3)) as [number, number, number]
    const primary = servers.start(first)
    servers.start(second, '--replicaof', '127.0.0.1', `${first}`)
    await using replica = patientClient(second)
    while (!(await replica.info('replication')).includes('master_link_status:up')) await replica.ping()
    servers.startSentinel(sentinel, first)
    await using watcher = patientClient(sentinel)
    const replicas = async () => (await watcher.call('SENTINEL', 'REPLICAS', 'main')) as unknown[]
    while ((await replicas()).length === 0) await watcher.ping()

    const url = `redis://127.0.0.1:${sentinel}?sentinel=main&timeout=1s`
    const jobs = treadle(url, { unsigned: true, logger: silentLogger })
    const ran: number[] = []
    const job = jobs.define('count', async (n: number) => void ran.push(n))
    await job.dispatch(1)
    await using direct = patientClient(first)
    expect(await direct.wait(1, 10_000)).toBe(1)
    await end(primary)
    const isPrimary = async () => (await replica.info('replication')).includes('role:master')
    while (!(await isPrimary())) await replica.ping()
    const sent = async () => {
      try {
        return await job.dispatch(2)
      } catch {
        return null
      }
    }
    while ((await sent()) === null) await replica.ping()
    const working = jobs.work({ signals: false, poll: '100ms' })
    await until(() => ran.includes(1) && ran.includes(2), 'both have run')
    await jobs.close()
    await working
  })
})
