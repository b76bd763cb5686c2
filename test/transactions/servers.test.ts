import { type JobBuilder, type Treadle, treadle } from 'treadle'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SqlGround } from '../backends/sql-ground.ts'
import { mysqlUrl, type SqlEngine } from '../services.ts'
import { type Client, clientsOf } from './server-clients.ts'

const engines: readonly SqlEngine[] = ['postgres', 'mariadb', ...(mysqlUrl() === null ? [] : (['mysql'] as const))]

describe.each(engines)('on %s', (engine) => {
  const ground = new SqlGround(engine)
  const elsewhere = new SqlGround(engine)
  const rollback = new Error('rolled back')
  let jobs: Treadle
  let mail: JobBuilder

  beforeAll(async () => {
    await ground.start()
    await elsewhere.start()
    jobs = treadle(ground.url, { unsigned: true })
    await jobs.open()
    mail = jobs.declare('mail')
    await ground.query('CREATE TABLE orders (id INT)')
  })
  afterEach(async () => {
    for (const table of ['jobs', 'counts', 'groups', 'unique_keys', 'links', 'edges'])
      await ground.query(`DELETE FROM {${table}}`)
  })
  afterAll(async () => {
    await jobs.close()
    await ground.stop()
    await elsewhere.stop()
  })

  const states = async () => (await (await jobs.store()).list({ limit: 100 })).map(({ state }) => state)
  const orders = () => ground.query('SELECT id FROM orders')

  describe.each(Object.entries(clientsOf[engine]))('a transaction of %s', (name, open) => {
    let client: Client
    beforeAll(async () => {
      client = await open(ground.url)
    })
    afterEach(() => ground.query('DELETE FROM orders'))
    afterAll(() => client.close())

    /** Rolls back whatever is done in it. */
    const undone = (work: Parameters<Client['transaction']>[0]) =>
      expect(
        client.transaction(async (tx, execute) => {
          await work(tx, execute)
          throw rollback
        }),
      ).rejects.toThrow(rollback)

    it('holds what is dispatched until it is committed', async () => {
      await client.transaction(async (tx, execute) => {
        await execute('INSERT INTO orders VALUES (1)')
        const run = await mail.in(tx).dispatch({ to: "it's ? $1 :name \\" })
        await jobs.dispatchMany('mail', [1, 2], { in: tx })
        expect(run.created).toBe(true)
        expect(await states()).toEqual([])
      })
      expect([await orders(), await states()]).toEqual([[{ id: 1 }], ['ready', 'ready', 'ready']])
      const [, , first] = await (await jobs.store()).list({ limit: 3 })
      expect(first?.payload).toBe(JSON.stringify({ to: "it's ? $1 :name \\" }))
      expect(await ground.faults()).toEqual([])
    })

    it('leaves nothing when it is rolled back: counts are right, and keys are free', async () => {
      const options = [{}, { unique: 'k' }, { throttle: { key: 't', time: '1h' } }, { group: 'tenant' }, { delay: '1h' }] as const
      await undone(async (tx, execute) => {
        await execute('INSERT INTO orders VALUES (1)')
        for (const [n, each] of options.entries()) expect((await mail.in(tx).dispatch(n, each)).created).toBe(true)
      })
      expect([await orders(), await states()]).toEqual([[], []])
      expect((await (await jobs.store()).counts()).every(({ counts }) => counts.ready + counts.scheduled === 0)).toBe(true)
      for (const [n, each] of options.entries()) expect((await mail.dispatch(n, each)).created).toBe(true)
      expect(await ground.faults()).toEqual([])
    })

    it('gives each job of a list what middleware has changed for it', async () => {
      const job = `changed-${Object.keys(clientsOf[engine]).indexOf(name)}`
      const wrapped = jobs.use(job, {
        dispatch: ({ payload, options }, next) => next({ options: { ...options, meta: { was: payload as number } } }),
      })
      const changed = wrapped.define(job, async (_: number) => {})
      await client.transaction(async (tx) => void (await changed.in(tx).dispatchMany([1, 2])))
      const records = await (await jobs.store()).list({ job, limit: 2 })
      expect(records.map(({ meta }) => meta)).toEqual([{ was: 2 }, { was: 1 }])
    })

    it('tells who holds a unique key, before it or in it', async () => {
      const before = await mail.dispatch(1, { unique: 'before' })
      const lasting = await mail.dispatch(1, { throttle: { key: 'lasting', time: '1h' } })
      await client.transaction(async (tx) => {
        const first = await mail.in(tx).dispatch(2, { unique: 'in' })
        const second = await mail.in(tx).dispatch(3, { unique: 'in' })
        expect([second.created, second.id]).toEqual([false, first.id])
        expect((await mail.in(tx).dispatch(4, { unique: 'before' })).id).toBe(before.id)
        expect((await mail.in(tx).dispatch(5, { throttle: { key: 'lasting', time: '1h' } })).id).toBe(lasting.id)
      })
      expect(await states()).toHaveLength(3)
      expect(await ground.faults()).toEqual([])
    })

    it('changes the job that holds a key, and takes that back', async () => {
      const unique = { key: 'k', onConflict: 'merge' } as const
      const { id } = await mail.dispatch({ a: 1 }, { unique })
      const payload = async () => (await (await jobs.store()).get(id))?.payload
      await undone(async (tx) => {
        expect(await mail.in(tx).dispatch({ b: 2 }, { unique })).toMatchObject({ id, created: false })
      })
      expect(await payload()).toBe('{"a":1}')
      await client.transaction(async (tx) => {
        await mail.in(tx).dispatch({ c: 3 }, { unique })
        await mail.in(tx).dispatch({ d: 4 }, { unique })
      })
      expect(await payload()).toBe('{"a":1,"c":3,"d":4}')
      expect(await ground.faults()).toEqual([])
    })

    it('holds jobs of groups, which workers find after the commit', async () => {
      const seen: string[] = []
      const grouped = jobs.define(`grouped by ${name}`, async (n: number, ctx) => void seen.push(`${ctx.group}${n}`))
      await client.transaction(async (tx) => {
        await grouped.in(tx).dispatchMany([1, 2], { group: 'a' })
        await grouped.in(tx).dispatch(3, { group: 'b' })
      })
      await jobs.run({ jobs: [grouped.job] })
      expect(seen.sort()).toEqual(['a1', 'a2', 'b3'])
      expect(await ground.faults()).toEqual([])
    })

    it('holds jobs that wait for others', async () => {
      const ids: string[] = []
      await client.transaction(async (tx) => {
        const first = await mail.in(tx).dispatch(1)
        const second = await mail.in(tx).dispatch(2, { dependsOn: first })
        ids.push(first.id, second.id)
      })
      const store = await jobs.store()
      expect(await Promise.all(ids.map(async (id) => (await store.get(id))?.state))).toEqual(['ready', 'blocked'])
      expect(await ground.faults()).toEqual([])
    })

    it('holds whole workflows, and leaves nothing of them when it is rolled back', async () => {
      const steps = () => [mail.step(1), mail.step(2), mail.step(3)] as const
      const dispatchAll = async (tx: Parameters<typeof jobs.in>[0]) => {
        await jobs.chain(steps(), { in: tx })
        await jobs.batch(steps(), { onComplete: mail.step('over'), in: tx })
        const build = jobs.workflow()
        build.add(mail.step('last'), { after: build.add(mail.step('first')) })
        await build.dispatch({ in: tx })
        await jobs.in(tx).chain(steps())
      }
      await undone((tx) => dispatchAll(tx))
      expect(await states()).toEqual([])
      await client.transaction(async (tx) => {
        await dispatchAll(tx)
        expect(await states()).toEqual([])
      })
      expect((await states()).sort()).toEqual([...Array(6).fill('blocked'), ...Array(6).fill('ready')])
      expect(await ground.faults()).toEqual([])
    })

    it('goes on after a dispatch that was refused, by the queue or by the database', async () => {
      await using other = treadle(elsewhere.url, { unsigned: true })
      await using hidden = treadle(`${elsewhere.url}?${engine === 'postgres' ? 'schema' : 'prefix'}=hidden`, { unsigned: true })
      await client.transaction(async (tx, execute) => {
        await execute('INSERT INTO orders VALUES (1)')
        await expect(mail.in(tx).dispatch(1, { queue: '' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
        const refusal = { code: 'TRANSACTION_INVALID', message: expect.stringContaining('another database') }
        for (const queue of [other, hidden]) await expect(queue.declare('mail').in(tx).dispatch(1)).rejects.toMatchObject(refusal)
        await mail.in(tx).dispatch(1)
      })
      expect([await orders(), await states()]).toEqual([[{ id: 1 }], ['ready']])
    })

    it('takes dispatches that are not waited for one by one', async () => {
      const unique = { key: 'k', onConflict: 'replace' } as const
      await client.transaction(async (tx) => {
        const runs = await Promise.all([1, 2, 3].map((n) => mail.in(tx).dispatch(n, { unique })))
        expect(runs.map(({ created }) => created)).toEqual([true, false, false])
      })
      expect(await states()).toEqual(['ready'])
      expect(await ground.faults()).toEqual([])
    })
  })
})
