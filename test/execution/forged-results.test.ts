import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Treadle, treadle } from 'treadle'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { loadDriver } from '../../src/engines/sqlite/file/driver.ts'
import type { JobRecord } from '../../src/queue/contract/store.ts'
import { SqlGround } from '../backends/sql-ground.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const signingKey = 'k1:a secret of the tests alone'

/** A database that the test writes to behind the back of the program. */
interface Ground {
  start(): Promise<void>
  stop(): Promise<void>
  url(): Promise<string>
  /** Tables as `{jobs}`. */
  change(sql: string): Promise<unknown>
  /** Has the row of a job say that nothing is linked to it. */
  unlink(id: string): Promise<unknown>
  /** All that stands in the tables where something is handed on. */
  everything(): Promise<string>
}

const tables = ['jobs', 'edges', 'once']

function sqliteGround(): Ground {
  const folder = mkdtempSync(join(tmpdir(), 'treadle-forged-'))
  let path = ''
  let made = 0
  const change = async (sql: string) => {
    const database = new (await loadDriver())(path)
    database.exec(sql.replaceAll(/\{(\w+)\}/g, 'treadle_$1'))
    database.close()
  }
  return {
    start: async () => {},
    stop: async () => rmSync(folder, { recursive: true, force: true }),
    url: async () => {
      path = join(folder, `jobs-${++made}.db`)
      return `sqlite:${path}`
    },
    change,
    unlink: async (id) => change(`UPDATE {jobs} SET linked = 0 WHERE id = '${id}'`),
    everything: async () => {
      const database = new (await loadDriver())(path)
      const rows = tables.map((table) => database.prepare(`SELECT * FROM treadle_${table}`).all())
      database.close()
      return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    },
  }
}

function sqlGround(engine: 'postgres' | 'mariadb'): Ground {
  const ground = new SqlGround(engine)
  return {
    start: () => ground.start(),
    stop: () => ground.stop(),
    url: async () => ground.url,
    change: (sql) => ground.query(sql),
    unlink: (id) => ground.query(`UPDATE {jobs} SET linked = 0 WHERE id = '${id}'`),
    everything: async () => {
      const rows: unknown[] = []
      for (const table of tables) rows.push(await ground.query(`SELECT * FROM {${table}}`))
      return JSON.stringify(rows)
    },
  }
}

const grounds = { sqlite: sqliteGround, postgres: () => sqlGround('postgres'), mariadb: () => sqlGround('mariadb') }

describe.each(Object.entries(grounds))('results that were written to %s by somebody who has no key', (_, makeGround) => {
  const ground = makeGround()
  let prefix = 0
  beforeAll(() => ground.start())
  afterAll(() => ground.stop())

  /** A program with a job `give` in the queue `first`, and `take` in the queue `second`, which reports what it was given. */
  async function program() {
    const jobs: Treadle = treadle(await ground.url(), { signingKey, logger: silent })
    onTestFinished(() => jobs.close())
    const taken: unknown[] = []
    // Other tests have left their jobs in the same database.
    const mark = `n${++prefix}`
    const give = jobs.define(`give-${mark}`, async (value: unknown) => value ?? undefined).queue(`first-${mark}`)
    const take = jobs
      .define(`take-${mark}`, async (_: unknown, ctx) => {
        taken.push((await ctx.dependencies()).map(({ result }) => result))
      })
      .queue(`second-${mark}`)
    const first = () => jobs.run({ queues: [`first-${mark}`] })
    const second = () => jobs.run({ queues: [`second-${mark}`] })
    const record = async ({ id }: { readonly id: string }) => (await (await jobs.store()).get(id)) as JobRecord
    return { jobs, give, take, taken, mark, first, second, record }
  }

  type Program = Awaited<ReturnType<typeof program>>

  async function expectRejected({ taken, record }: Program, run: { readonly id: string }) {
    expect(await record(run)).toMatchObject({ state: 'dead', reason: 'rejected', errors: [{ code: 'RESULT_FORGED' }] })
    expect(taken).toEqual([])
  }

  /** Both where the job itself has it, and where the one that waits remembers it. */
  async function forge(id: string, changes: string) {
    await ground.change(`UPDATE {jobs} SET ${changes} WHERE id = '${id}'`)
    await ground.change(`UPDATE {edges} SET ${changes} WHERE target = '${id}'`)
  }

  it('a genuine one is handed on', async () => {
    const all = await program()
    const { give, take, taken, first, second, record } = all
    const [one, two] = [await give.dispatch({ n: 1 }), await give.dispatch(null)]
    const after = await take.dispatch({}, { dependsOn: [one, two] })
    await first()
    await second()
    expect(await record(after)).toMatchObject({ state: 'succeeded' })
    expect(taken).toEqual([[{ n: 1 }, undefined]])
    expect(await one.result()).toEqual({ n: 1 })
    expect(await two.result()).toBeUndefined()
  })

  it('one that came to wait when the others had ended is given theirs, also without a result, and also when it is put back', async () => {
    const { jobs, give, take, taken, first, second } = await program()
    const [one, two] = [await give.dispatch({ n: 1 }), await give.dispatch(null)]
    await first()
    const after = await take.dispatch({}, { dependsOn: [one, two] })
    const another = await take.dispatch({}, { dependsOn: [two] })
    await second()
    expect(taken).toEqual(expect.arrayContaining([[{ n: 1 }, undefined], [undefined]]))
    await (await jobs.store()).retry([after.id, another.id])
    await second()
    expect(taken).toHaveLength(4)
  })

  it('a changed one is refused before the handler is called', async () => {
    const all = await program()
    const one = await all.give.dispatch({ paid: 1 })
    const after = await all.take.dispatch({}, { dependsOn: one })
    await all.first()
    await forge(one.id, `result = '{"paid":1000}'`)
    await all.second()
    await expectRejected(all, after)
    await expect(one.result()).rejects.toMatchObject({ code: 'RESULT_FORGED' })
  })

  it('one without its signature is refused', async () => {
    const all = await program()
    const one = await all.give.dispatch({ paid: 1 })
    const after = await all.take.dispatch({}, { dependsOn: one })
    await all.first()
    await forge(one.id, 'seal = NULL')
    await all.second()
    await expectRejected(all, after)
    await expect(one.result()).rejects.toMatchObject({ code: 'RESULT_FORGED' })
  })

  it('one that was moved to another job with its signature is refused, and so are two that were swapped', async () => {
    const all = await program()
    const [one, two] = [await all.give.dispatch({ paid: 1 }), await all.give.dispatch({ paid: 2 })]
    const after = await all.take.dispatch({}, { dependsOn: [one, two] })
    await all.first()
    const [a, b] = [await all.record(one), await all.record(two)]
    await forge(one.id, `result = '${b.result}', seal = '${b.seal}'`)
    await forge(two.id, `result = '${a.result}', seal = '${a.seal}'`)
    await all.second()
    await expectRejected(all, after)
    await expect(one.result()).rejects.toMatchObject({ code: 'RESULT_FORGED' })
  })

  it('a result that was taken away, or given to a job that gave none, is refused', async () => {
    const all = await program()
    const [one, two] = [await all.give.dispatch({ paid: 1 }), await all.give.dispatch(null)]
    const afterOne = await all.take.dispatch({}, { dependsOn: one })
    const afterTwo = await all.take.dispatch({}, { dependsOn: two })
    await all.first()
    await forge(one.id, 'result = NULL')
    await forge(two.id, `result = '{"paid":1000}'`)
    await all.second()
    await expectRejected(all, afterOne)
    await expectRejected(all, afterTwo)
  })

  it('a job that never ran and was set to succeeded lets nothing run that waits for it', async () => {
    const all = await program()
    const one = await all.give.dispatch(null)
    const after = await all.take.dispatch({}, { dependsOn: one })
    await ground.change(`UPDATE {jobs} SET state = 4, finished_at = 1 WHERE id = '${one.id}'`)
    await (await all.jobs.store()).sweep({ part: 'waits', limit: 1_000 })
    await all.second()
    await expectRejected(all, after)
  })

  it('nor does it where the one that waits was told so, or was made ready', async () => {
    const all = await program()
    const [one, two] = [await all.give.dispatch(null), await all.give.dispatch(null)]
    const told = await all.take.dispatch({}, { dependsOn: one })
    const ready = await all.take.dispatch({}, { dependsOn: two })
    await ground.change(`UPDATE {edges} SET outcome = 4, waiting = 0 WHERE target = '${one.id}'`)
    // By the mending, which knows how each engine counts: one waits for something that is not there.
    for (const id of [told.id, ready.id]) await makeReady(all, id)
    await all.second()
    await expectRejected(all, told)
    await expectRejected(all, ready)
  })

  async function makeReady({ jobs, record }: Program, id: string) {
    const waiting = await ground.change(`UPDATE {edges} SET waiting = 0 WHERE waiter = '${id}'`)
    await (await jobs.store()).sweep({ part: 'waits', limit: 1_000 })
    expect((await record({ id })).state, String(waiting)).toBe('ready')
  }

  it('a forged result of a child ends its parent before its handler is called again', async () => {
    const all = await program()
    const { jobs, mark, first, second, taken } = all
    const parent = jobs
      .define(`parent-${mark}`, async (_: unknown, ctx) => {
        await ctx.dispatchChild(`give-${mark}`, { paid: 1 }, { key: 'one' })
        const children = await ctx.children()
        taken.push(children.map(({ result }) => result))
      })
      .queue(`second-${mark}`)
    const run = await parent.dispatch({})
    await second()
    await first()
    const [child] = await (await jobs.store()).links(run.id)
    await forge(child?.id as string, `result = '{"paid":1000}'`)
    await second()
    await expectRejected(all, run)
  })

  it.each(['parents', 'keys'])(
    'children whose %s were exchanged end their parents before their handlers are called again',
    async (what) => {
      const all = await program()
      const { jobs, mark, first, second, taken } = all
      const parent = jobs
        .define(`parent-${mark}`, async ({ paid }: { paid: number }, ctx) => {
          await ctx.dispatchChild(`give-${mark}`, { paid }, { key: 'one' })
          await ctx.dispatchChild(`give-${mark}`, { paid: paid * 2 }, { key: 'two' })
          const children = await ctx.children()
          taken.push(children.map(({ key, result }) => [key, result]))
        })
        .queue(`second-${mark}`)
      const honest = await parent.dispatch({ paid: 5 })
      const runs = [await parent.dispatch({ paid: 1 }), await parent.dispatch({ paid: 1_000 })]
      await second()
      await first()
      const [one, other] = runs.map(({ id }) => `'${id}'`) as [string, string]
      const exchange = async (column: string, a: string, b: string, between: string, where = '') => {
        for (const [from, to] of [
          [a, between],
          [b, a],
          [between, b],
        ])
          await ground.change(`UPDATE {edges} SET ${column} = ${to} WHERE ${column} = ${from}${where}`)
      }
      if (what === 'parents') await exchange('waiter', one, other, "'00000000-0000-7000-8000-000000000000'")
      else await exchange('child_name', "'one'", "'two'", "'none'", ` AND waiter IN (${one}, ${other})`)
      await second()
      for (const run of runs)
        expect(await all.record(run)).toMatchObject({ reason: 'rejected', errors: [{ code: 'RESULT_FORGED' }] })
      expect((await all.record(honest)).state).toBe('succeeded')
      expect(taken.flat()).toEqual([
        ['one', { paid: 5 }],
        ['two', { paid: 10 }],
      ])
    },
  )

  it('a child that another job stands for, because it holds its unique key, hands its result on to both', async () => {
    const { jobs, mark, first, second, taken } = await program()
    const parent = jobs
      .define(`parent-${mark}`, async (_: object, ctx) => {
        await ctx.dispatchChild(`give-${mark}`, { paid: 1 }, { key: 'one', unique: `once-${mark}` })
        taken.push((await ctx.children()).map(({ result }) => result))
      })
      .queue(`second-${mark}`)
    const runs = [await parent.dispatch({}), await parent.dispatch({})]
    await second()
    await first()
    await second()
    for (const run of runs) expect(await run.state()).toBe('succeeded')
    expect(taken).toEqual([[{ paid: 1 }], [{ paid: 1 }]])
  })

  it('a result under an idempotency key is not taken over when it was forged, and neither is a key that nobody has finished', async () => {
    const all = await program()
    const { jobs, mark, taken, first, record } = all
    const charge = jobs
      .define(`charge-${mark}`, async (_: { order: number }) => {
        taken.push('charged')
        return { paid: 1 }
      })
      .queue(`first-${mark}`)
      .idempotencyKey(({ order }) => `${mark}:${order}`)
    const done = await charge.dispatch({ order: 1 })
    await first()
    expect(await done.result()).toEqual({ paid: 1 })
    const genuine = await charge.dispatch({ order: 1 })
    await first()
    expect(await genuine.result()).toEqual({ paid: 1 })
    expect(await record(genuine)).toMatchObject({ state: 'skipped' })
    expect(taken.splice(0)).toEqual(['charged'])
    await ground.change(`UPDATE {once} SET result = '{"paid":1000}' WHERE done_until IS NOT NULL`)
    const forged = await charge.dispatch({ order: 1 })
    await first()
    await expectRejected(all, forged)
    await ground.change(`UPDATE {once} SET result = NULL, seal = NULL WHERE done_until IS NOT NULL`)
    const unfinished = await charge.dispatch({ order: 1 })
    await first()
    await expectRejected(all, unfinished)
  })

  it('a skipped job has signed what it took over, under its own id', async () => {
    const all = await program()
    const { jobs, mark, take, taken, first, second } = all
    const charge = jobs
      .define(`charge-${mark}`, async () => ({ paid: 1 }))
      .queue(`first-${mark}`)
      .idempotencyKey(mark)
    await charge.dispatch()
    await first()
    const again = await charge.dispatch()
    const after = await take.dispatch({}, { dependsOn: again })
    await first()
    await second()
    expect(taken.splice(0)).toEqual([[{ paid: 1 }]])
    await forge(again.id, `result = '{"paid":1000}'`)
    await (await jobs.store()).retry([after.id])
    await second()
    await expectRejected(all, after)
  })

  it('a job that waits, and whose row says that it is linked to nothing, is refused all the same', async () => {
    const all = await program()
    const [one, two] = [await all.give.dispatch({ paid: 1 }), await all.give.dispatch({ paid: 2 })]
    const [after, bare] = [await all.take.dispatch({}, { dependsOn: one }), await all.take.dispatch({}, { dependsOn: two })]
    await all.first()
    await forge(one.id, `result = '{"paid":1000}'`)
    await ground.change(`DELETE FROM {edges} WHERE waiter = '${bare.id}'`)
    for (const { id } of [after, bare]) await ground.unlink(id)
    await all.second()
    await expectRejected(all, after)
    await expectRejected(all, bare)
  })

  it('a dependency that was exchanged for another job with a genuine result is refused', async () => {
    const all = await program()
    const [one, two] = [await all.give.dispatch({ paid: 1 }), await all.give.dispatch({ paid: 1000 })]
    const after = await all.take.dispatch({}, { dependsOn: one })
    await all.first()
    const { result, seal } = await all.record(two)
    const target = `target = '${two.id}', result = '${result}', seal = '${seal}'`
    await ground.change(`UPDATE {edges} SET ${target} WHERE waiter = '${after.id}'`)
    await all.second()
    await expectRejected(all, after)
  })

  it('a job that stands for a step of a workflow, by its unique key, is no forgery', async () => {
    const { jobs, give, take, taken, mark, first, second } = await program()
    const held = await give.dispatch({ n: 1 }, { unique: `u-${mark}` })
    const flow = await jobs.chain([give.step({ n: 2 }, { unique: `u-${mark}` }), take.step({})])
    await first()
    await second()
    expect(flow.runs[0]?.id).toBe(held.id)
    expect(taken).toEqual([[{ n: 1 }]])
  })

  it('what was written in the transaction of its job is signed as well', async () => {
    const all = await program()
    const { jobs, mark, take, taken, first, second } = all
    const paid = jobs
      .define(`paid-${mark}`, async (n: number, ctx) => ctx.transaction(() => ({ n }) as never))
      .queue(`first-${mark}`)
      .delivery('effectively-once')
    const [one, two] = [await paid.dispatch(1), await paid.dispatch(2)]
    const genuine = await take.dispatch({}, { dependsOn: one })
    const after = await take.dispatch({}, { dependsOn: two })
    await first()
    await forge(two.id, `result = '{"n":1000}'`)
    await second()
    expect((await all.record(genuine)).state).toBe('succeeded')
    expect(taken.splice(0)).toEqual([[{ n: 1 }]])
    await expectRejected(all, after)
    expect(await one.result()).toEqual({ n: 1 })
    await expect(two.result()).rejects.toMatchObject({ code: 'RESULT_FORGED' })
  })

  it('results of encrypted jobs are in no table in the clear, and readable wherever they are handed on', async () => {
    const all = await program()
    const { jobs, mark, take, taken, first, second, record } = all
    const secret = `secret-${mark}`
    const queue = `first-${mark}`
    const plain = jobs
      .define(`plain-${mark}`, async () => ({ card: secret }))
      .queue(queue)
      .encrypt()
    const once = jobs
      .define(`once-${mark}`, async () => ({ card: secret }))
      .queue(queue)
      .encrypt()
      .idempotencyKey(`once-${mark}`)
    const written = jobs
      .define(`written-${mark}`, async (_: unknown, ctx) => ctx.transaction(() => ({ card: secret }) as never))
      .queue(queue)
      .encrypt()
      .delivery('effectively-once')
    const parent = jobs
      .define(`parent-${mark}`, async (_: unknown, ctx) => {
        await ctx.progress({ card: secret })
        await ctx.dispatchChild(`plain-${mark}`, {}, { key: 'one' })
        const [child] = await ctx.children()
        return child?.result
      })
      .queue(queue)
      .encrypt()
    const runs = [await plain.dispatch({}), await once.dispatch({}), await written.dispatch({}), await parent.dispatch({})]
    const after = await take.dispatch({}, { dependsOn: runs })
    await first()
    expect(await runs[3]?.progress()).toEqual({ card: secret })
    const again = await once.dispatch({})
    const open = await once.dispatch({}, { encrypt: false })
    await first()
    const flow = await jobs.batch([plain.step({})])
    await first()
    await second()
    expect((await record(after)).state).toBe('succeeded')
    expect(taken).toEqual([runs.map(() => ({ card: secret }))])
    for (const run of [...runs, again, open]) {
      expect(await run.result()).toEqual({ card: secret })
      expect(JSON.parse((await record(run)).result as string)).toMatchObject({ encrypted: true, kid: 'default' })
    }
    expect(await record(again)).toMatchObject({ state: 'skipped' })
    expect(await flow.result()).toEqual([{ card: secret }])
    expect(await ground.everything()).not.toContain(secret)
  })
})
