import type { RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openMysql } from '../../../src/engines/mysql/index.ts'
import { tables } from '../../../src/engines/sql/rows/tables.ts'
import type { QueueBackend } from '../../../src/queue/contract/contract.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type MysqlGround, mysqlEngines, mysqlGround } from './ground.ts'

/** As many bytes as the row needs, where a column that is null needs none. */
const size = Object.entries(tables.jobs.columns)
  .map(([name, { type }]) => (['int', 'big', 'flag'].includes(type) ? `IF(${name} IS NULL, 0, 8)` : `IFNULL(LENGTH(${name}), 0)`))
  .join(' + ')

describe.each(mysqlEngines)('the row of a job on %s', (engine) => {
  const clock = new ManualClock()
  let ground: MysqlGround
  let backend: QueueBackend
  let bench: Bench

  beforeAll(async () => {
    ground = await mysqlGround(engine)
    backend = await openMysql({ url: ground.fresh.url, clock })
    bench = new Bench(backend, clock)
  })
  afterAll(async () => {
    await backend[Symbol.asyncDispose]()
    await ground[Symbol.asyncDispose]()
  })

  async function sizes(): Promise<readonly number[]> {
    const [rows] = await ground.plain.query<RowDataPacket[]>(`SELECT ${size} AS bytes FROM treadle_jobs ORDER BY id`)
    return rows.map(({ bytes }) => Number(bytes))
  }

  test('does not grow when it is claimed, or ends without a result: its page need not be split', async () => {
    await bench.send({}, { uniqueKey: 'k' }, { group: 'g' }, { delayMs: 1 })
    const sent = await sizes()
    await clock.advance(1)
    const owner = `${'a-rather-long-name-of-a-host'}:1234567:abcdef`
    const leases = await bench.claim({ limit: 10, owner })
    const claimed = await sizes()
    await bench.settle(...leases.map((lease) => bench.done(lease, { keep: true })))
    const ended = await sizes()
    expect([leases.length, sent.length]).toEqual([4, 4])
    expect(claimed.filter((bytes, index) => bytes > (sent[index] ?? 0))).toEqual([])
    expect(ended.filter((bytes, index) => bytes > (claimed[index] ?? 0))).toEqual([])
  })

  test('ends only where its lease is held, whatever else ends with it', async () => {
    await bench.send({}, {}, {})
    const leases = await bench.claim({ limit: 3, leaseMs: 1_000 })
    const [first, second, third] = leases as [(typeof leases)[number], (typeof leases)[number], (typeof leases)[number]]
    await bench.settle(bench.done(second, { keep: true }))
    const receipts = await backend.settle([first, second, third].map((lease) => bench.done(lease, { keep: true })))
    expect(receipts).toEqual(['applied', 'lost', 'applied'])
    const running = (await bench.store.counts()).reduce((sum, { counts }) => sum + counts.running, 0)
    expect(running).toBe(0)
  })
})
