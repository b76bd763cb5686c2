import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { nextTurn } from '../../../src/core/time/clock.ts'
import { openMysql } from '../../../src/engines/mysql/index.ts'
import { openPostgres } from '../../../src/engines/postgres/index.ts'
import type { QueueBackend, Settlement } from '../../../src/queue/contract/contract.ts'
import { Bench, times } from '../../../src/testing/conformance/bench.ts'
import { childOf } from '../../../src/testing/conformance/workflows/links.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { mysqlUrl, type SqlEngine } from '../../services.ts'
import { SqlGround } from '../sql-ground.ts'
import { TcpProxy } from './tcp-proxy.ts'

const engines: readonly SqlEngine[] = mysqlUrl() === null ? ['postgres', 'mariadb'] : ['postgres', 'mariadb', 'mysql']

/** A new connection is told to be READ COMMITTED. */
const commit = /COMMIT(?!TED)/

/** What stands in the statement that commits. A text ends with a zero, so that no other one is taken for it. */
const marks = {
  postgres: {
    setUp: 'enable_seqscan',
    commit: 'COMMIT\0',
    send: 'WITH written AS',
    settle: 'WITH ended AS',
    claim: 'SKIP LOCKED',
  },
  mariadb: { setUp: 'READ COMMITTED', commit, send: commit, settle: commit, claim: commit },
  mysql: { setUp: 'READ COMMITTED', commit, send: commit, settle: commit, claim: commit },
}

describe.each(engines)('a queue in %s whose connection breaks', (engine) => {
  const ground = new SqlGround(engine)
  const mark = marks[engine]
  let proxy: TcpProxy
  let bench: Bench
  beforeAll(async () => {
    await ground.start()
    proxy = await TcpProxy.before(ground.url)
  })
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]()
    await ground.stop()
  })
  beforeEach(async () => {
    const clock = new ManualClock()
    await (await ground.open(clock))[Symbol.asyncDispose]()
    bench = new Bench(await open(clock), clock)
    // What is made only once is made, so that nothing but the call itself is met.
    await bench.settle(bench.done(await sent({})))
  })
  afterEach(async () => {
    await bench.backend[Symbol.asyncDispose]()
    expect(await ground.faults()).toEqual([])
  })

  describe.each(['answer', 'request'] as const)('and the %s is lost', (lost) => {
    test.each([mark.setUp, 'MAX(version)', 'SELECT applied_at'])('is opened all the same: %s', async (statement) => {
      const met = proxy.lose(lost, statement)
      const opened = await open(bench.clock)
      await met
      expect(await opened.send([bench.envelope()])).toHaveLength(1)
      await opened[Symbol.asyncDispose]()
    })

    test('stores what is sent once, and says that it did', async () => {
      const met = proxy.lose(lost, mark.send)
      const envelopes = times(3, () => bench.envelope())
      const receipts = await bench.backend.send(envelopes)
      await met
      expect(receipts).toEqual(envelopes.map(({ id }) => ({ id, stored: true })))
      expect([...(await bench.claimedIds())].sort()).toEqual(envelopes.map(({ id }) => id).sort())
    })

    test('stores what is sent with a key once, and lets a later one find it', async () => {
      const holder = await bench.sendOne({ uniqueKey: 'held' })
      const met = proxy.lose(lost, mark.commit)
      const envelopes = ['free', 'held', 'free'].map((uniqueKey) => bench.envelope({ uniqueKey }))
      const receipts = await bench.backend.send(envelopes)
      await met
      const first = envelopes[0]?.id
      expect(receipts).toEqual([
        { id: first, stored: true },
        { id: holder, stored: false },
        { id: first, stored: false },
      ])
    })

    test('makes a child once, and its parent waits for it once', async () => {
      const parent = await sent({})
      const met = proxy.lose(lost, mark.commit)
      const child = bench.envelope({ links: childOf(parent, 'one') })
      const receipts = await bench.backend.send([child])
      await met
      expect(receipts).toEqual([{ id: child.id, stored: true }])
      expect(await bench.backend.settle([bench.done(parent, { keep: true })])).toEqual(['blocked'])
      await bench.settle(bench.done(await bench.claimOne()))
      expect((await bench.record(parent.envelope.id)).state).toBe('succeeded')
    })

    test('settles a lease once, and says so when it is settled again', async () => {
      const lease = await sent({})
      const met = proxy.lose(lost, mark.settle)
      const again = await settledAgain(bench.done(lease, { keep: true }))
      await met
      expect(again).toEqual(['applied'])
      expect((await bench.record(lease.envelope.id)).state).toBe('succeeded')
      expect(await bench.backend.settle([bench.done(lease, { keep: true })])).toEqual(['lost'])
    })

    test('settles a lease of a job that is not kept, one that is tried again, and one that dies', async () => {
      for (const wanted of [
        { kind: 'done', result: null, keep: false },
        { kind: 'retry', delayMs: 60_000, error: { attempt: 1, at: 0, message: 'once more' } },
        { kind: 'dead', reason: 'exhausted', error: { attempt: 1, at: 0, message: 'no more' }, keep: true },
      ] as const) {
        const { token } = await sent({})
        const met = proxy.lose(lost, mark.commit)
        expect(await settledAgain({ token, ...wanted })).toEqual(['applied'])
        await met
      }
    })

    test('gives the jobs of a claim to the next one, and burns no attempt', async () => {
      const ids = await bench.send({}, {}, {})
      const met = proxy.lose(lost, mark.claim)
      await expect(bench.claim()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
      await met
      // The server may still be at it when the connection is gone already.
      const isCarriedOut = async () => (await bench.record(ids[0] as string)).state === 'running'
      for (let looks = 0; lost === 'answer' && looks < 1_000 && !(await isCarriedOut()); looks++) await nextTurn()
      const leases = await bench.claim()
      expect(leases.map(({ envelope }) => envelope.id).sort()).toEqual([...ids].sort())
      expect(leases.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
      for (const id of ids) expect(await bench.record(id)).toMatchObject({ attempts: 1, rescues: 0 })
    })

    test('begins a job for good, and renews a lease', async () => {
      const { token, envelope } = await sent({})
      const met = proxy.lose(lost, mark.commit)
      expect(await bench.backend.begin([token])).toEqual(['applied'])
      await met
      void proxy.lose(lost, mark.commit)
      await expect(bench.backend.extend([token], 90_000)).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
      expect(await bench.backend.extend([token], 60_000)).toEqual(['applied'])
      await bench.clock.advance(60_000)
      await bench.backend.reap(3)
      expect(await bench.record(envelope.id)).toMatchObject({ state: 'dead', reason: 'interrupted' })
    })
  })

  test('tells that a lease is lost which was lost while its settlement was in doubt', async () => {
    const lease = await sent({})
    const met = proxy.lose('request', mark.settle)
    await expect(bench.backend.settle([bench.done(lease, { keep: true })])).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
    })
    await met
    await bench.clock.advance(30_000)
    // The job stays locked until the server notices that the connection is gone.
    await expect.poll(async () => (await bench.backend.reap(3)).returned, { timeout: 30_000 }).toBe(1)
    expect(await bench.backend.settle([bench.done(lease, { keep: true })])).toEqual(['lost'])
    const other = await bench.claimOne({ owner: 'worker-2' })
    await bench.settle(bench.done(other))
    expect(await bench.backend.settle([bench.done(lease, { keep: true })])).toEqual(['lost'])
  })

  test('waits for a server that is away for a moment', async () => {
    proxy.close()
    const sending = bench.sendOne()
    proxy.open()
    const id = await sending
    expect(await bench.claimedIds()).toEqual([id])
  })

  test('gives up a statement that is never answered, and its connection', async () => {
    const impatient = new Bench(await open(bench.clock, { queryTimeout: '1s' }), bench.clock)
    await bench.sendOne()
    const met = proxy.lose('silence', mark.claim)
    await expect(impatient.claim()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    await met
    // On a busy machine, the claim that is answered may be too slow as well.
    await expect.poll(() => impatient.claim().catch(() => []), { timeout: 20_000 }).toHaveLength(1)
    await impatient.backend[Symbol.asyncDispose]()
    await expect.poll(connections, { timeout: 20_000 }).toBeLessThanOrEqual(5)
  })

  test.skipIf(engine === 'postgres')('gives up a connection that is silent while it is set up', async () => {
    const impatient = new Bench(await open(bench.clock, { queryTimeout: '300ms' }), bench.clock)
    const met = proxy.lose('silence', mark.setUp)
    // More calls at once than there are connections yet.
    const outcomes = await Promise.allSettled(times(4, () => impatient.store.counts()))
    await met
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
    expect(failures.filter((code) => code !== 'DATABASE_UNREACHABLE')).toEqual([])
    expect(await impatient.store.counts()).toEqual(expect.any(Array))
    await impatient.backend[Symbol.asyncDispose]()
  })

  test('keeps no more connections than it may have, however often they break', async () => {
    for (let round = 0; round < 10; round++) {
      const sending = Promise.all(times(8, () => bench.sendOne()))
      proxy.cut()
      await sending
    }
    await expect.poll(connections, { timeout: 20_000 }).toBeLessThanOrEqual(5)
    expect(await bench.claim({ limit: 1_000 })).toHaveLength(80)
  })

  /** The one job that was sent just now. */
  async function sent(wanted: Parameters<Bench['sendOne']>[0]) {
    await bench.sendOne(wanted)
    return bench.claimOne()
  }

  /** The first time fails. */
  async function settledAgain(settlement: Settlement) {
    await expect(bench.backend.settle([settlement])).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    return bench.backend.settle([settlement])
  }

  /** Those of the queue: the ground has one of its own. */
  async function connections(): Promise<number> {
    const { pathname } = new URL(ground.url)
    const sql =
      engine === 'postgres'
        ? `SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = '${pathname.slice(1)}'`
        : `SELECT COUNT(*) AS open FROM information_schema.processlist WHERE db = '${pathname.slice(1)}'`
    const [row] = await ground.query<{ open: number }>(sql)
    return Number(row?.open) - 1
  }

  function open(clock: ManualClock, options: { readonly queryTimeout?: string } = {}): Promise<QueueBackend> {
    const { url } = proxy
    // Statements that are not prepared say their text each time, so that the proxy can know them.
    if (engine === 'postgres')
      return openPostgres({ url, clock, logger: silentLogger, notify: false, prepare: false, ...options })
    return openMysql({ url, clock, ...options })
  }
})
