import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { openMysql } from '../../../src/engines/mysql/index.ts'
import { openPostgres } from '../../../src/engines/postgres/index.ts'
import { cancelOutcome } from '../../../src/queue/contract/queue-counts.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { mysqlUrl, type SqlEngine } from '../../services.ts'
import { SqlGround } from '../sql-ground.ts'
import { TcpProxy } from './tcp-proxy.ts'

const engines: readonly SqlEngine[] = mysqlUrl() === null ? ['postgres', 'mariadb'] : ['postgres', 'mariadb', 'mysql']

// The server ends the connection by its own clock, a few seconds later.
describe.each(engines)('a program that stands still in a transaction on %s', (engine) => {
  const ground = new SqlGround(engine)
  const clock = new ManualClock()
  let proxy: TcpProxy
  let standing: Bench
  let other: Bench
  beforeAll(() => ground.start())
  afterAll(() => ground.stop())
  beforeEach(async () => {
    proxy = await TcpProxy.before(ground.url)
    other = new Bench(await ground.open(clock), clock)
    const options = { url: proxy.url, clock, logger: silentLogger }
    standing = new Bench(await (engine === 'postgres' ? openPostgres(options) : openMysql(options)), clock)
  })
  afterEach(async () => {
    proxy.cut()
    await standing.backend[Symbol.asyncDispose]()
    await other.backend[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
  })

  test('keeps its locks from others only for a few seconds', async () => {
    await standing.sendOne({})
    const lease = await standing.claimOne()
    // It has locked the job, and its commit never leaves.
    const met = proxy.lose('silence', /COMMIT(?!TED)/)
    const settling = standing.backend.settle([standing.retry(lease, 60_000)]).catch(() => 'lost')
    await met
    expect(cancelOutcome(await other.store.cancel(lease.envelope.id))).toBe('requested')
    proxy.cut()
    await settling
  })
})
