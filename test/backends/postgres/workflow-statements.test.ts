import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgres } from '../../../src/engines/postgres/index.ts'
import type { Lease } from '../../../src/queue/contract/contract.ts'
import { Bench, unlimited } from '../../../src/testing/conformance/bench.ts'
import { waitsFor } from '../../../src/testing/conformance/workflows/links.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type FreshDatabase, freshDatabase } from '../../services.ts'

/** Counts the statements of all its connections. */
class StatementPool extends pg.Pool {
  statements = 0
  readonly #connect = super.connect.bind(this) as () => Promise<pg.PoolClient>
  readonly #counted = new WeakSet<pg.PoolClient>()

  override connect = (async () => {
    const client = await this.#connect()
    if (this.#counted.has(client)) return client
    this.#counted.add(client)
    const query = client.query.bind(client) as (...given: unknown[]) => unknown
    client.query = ((...given: unknown[]) => {
      this.statements++
      return query(...given)
    }) as pg.PoolClient['query']
    return client
  }) as pg.Pool['connect']

  async statementsOf(work: () => Promise<unknown>): Promise<number> {
    const before = this.statements
    await work()
    return this.statements - before
  }
}

let database: FreshDatabase
let pool: StatementPool
let queue: Bench
beforeAll(async () => {
  database = await freshDatabase('postgres')
  pool = new StatementPool({ connectionString: database.url })
  const clock = new ManualClock()
  queue = new Bench(await openPostgres({ pool, clock, notify: false }), clock)
})
afterAll(async () => {
  await queue.backend[Symbol.asyncDispose]()
  await pool.end()
  await database.dispose()
})

async function runningFirst(): Promise<Lease> {
  const job = queue.newId()
  await queue.send({ job })
  return queue.claimOne({ jobs: unlimited(job) })
}

/** A running job, and this many that wait for it one after the other. Returns the last of them. */
async function chainOf(length: number): Promise<{ readonly first: Lease; readonly last: string }> {
  const first = await runningFirst()
  let last = first.envelope.id
  const envelopes = Array.from({ length }, () => {
    const envelope = queue.envelope({ links: waitsFor([last]) })
    last = envelope.id
    return envelope
  })
  await queue.backend.send(envelopes)
  return { first, last }
}

test('a failing chain of a thousand jobs takes about a hundred statements', async () => {
  const { first, last } = await chainOf(1_000)
  const statements = await pool.statementsOf(() => queue.settle(queue.dead(first)))
  expect((await queue.record(last)).state).toBe('dead')
  expect(statements).toBeLessThan(150)
})

test('the statements of an end do not depend on how many jobs wait for it', async () => {
  const counts: number[] = []
  for (const waiting of [2, 500]) {
    for (const end of ['done', 'dead'] as const) {
      const first = await runningFirst()
      const links = waitsFor([first.envelope.id])
      await queue.send(...Array.from({ length: waiting }, () => ({ links })))
      counts.push(await pool.statementsOf(() => queue.settle(queue[end](first))))
    }
  }
  const [done, dead, doneOfMany, deadOfMany] = counts
  expect([doneOfMany, deadOfMany]).toEqual([done, dead])
})

test('the statements of a batch do not depend on how many of its jobs are linked', async () => {
  const counts: number[] = []
  for (const pairs of [2, 100]) {
    const job = queue.newId()
    const firsts = await queue.send(...Array.from({ length: pairs }, () => ({ job })))
    await queue.send(...firsts.map((id) => ({ links: waitsFor([id]) })))
    const leases = await queue.claim({ jobs: unlimited(job), limit: pairs })
    counts.push(await pool.statementsOf(() => queue.settle(...leases.map((lease) => queue.dead(lease)))))
  }
  expect(counts[1]).toBe(counts[0])
})
