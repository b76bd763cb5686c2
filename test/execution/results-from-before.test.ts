import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Treadle, type TreadleOptions, treadle } from 'treadle'
import { openMysqlUpkeep } from 'treadle/mysql'
import { openPostgresUpkeep } from 'treadle/postgres'
import { openSqliteUpkeep } from 'treadle/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { OpenUpkeep } from '../../src/backends/upkeep.ts'
import { freshDatabase } from '../services.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const signingKey = 'k1:a secret of the tests alone'

interface Ground {
  readonly url: string
  upkeep(): Promise<OpenUpkeep>
  /** The last version of the schema that had no place for seals. */
  readonly unsealed: number
}

const grounds: Readonly<Record<string, () => Promise<Ground>>> = {
  sqlite: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'treadle-before-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'jobs.db')
    return { url: `sqlite:${path}`, upkeep: async () => openSqliteUpkeep(path), unsealed: 3 }
  },
  postgres: async () => {
    const { url, dispose } = await freshDatabase('postgres')
    onTestFinished(dispose)
    return { url, upkeep: async () => openPostgresUpkeep({ url }), unsealed: 2 }
  },
  mariadb: async () => {
    const { url, dispose } = await freshDatabase('mariadb')
    onTestFinished(dispose)
    return { url, upkeep: async () => openMysqlUpkeep({ url }), unsealed: 2 }
  },
}

describe.each(Object.entries(grounds))('results from before they were signed, on %s', (_, makeGround) => {
  function program(url: string, options: TreadleOptions = {}) {
    const jobs: Treadle = treadle(url, { signingKey, logger: silent, ...options })
    const taken: unknown[] = []
    const give = jobs
      .define('give', async (n: number) => ({ n }))
      .queue('first')
      .idempotencyKey((n) => `give-${n}`)
    const take = jobs
      .define('take', async (_: unknown, ctx) => void taken.push((await ctx.dependencies()).map(({ result }) => result)))
      .queue('second')
    return { jobs, give, take, taken }
  }

  /** A queue with a job that has ended and one that waits for nothing but a worker, as a version without seals has left it. */
  async function migrated() {
    const ground = await makeGround()
    const { jobs, give, take } = program(ground.url)
    const done = await give.dispatch(1)
    const after = await take.dispatch({}, { dependsOn: done })
    await jobs.run({ queues: ['first'] })
    await jobs.close()
    const { schema, ...upkeep } = await opened(ground)
    await schema.migrate(ground.unsealed)
    await schema.migrate()
    await upkeep.close()
    return { url: ground.url, done: done.id, after: after.id }
  }

  async function opened(ground: Ground) {
    const upkeep = await ground.upkeep()
    return { schema: upkeep.schema, close: () => upkeep[Symbol.asyncDispose]() }
  }

  it('are refused', async () => {
    const { url, done, after } = await migrated()
    const { jobs, give, taken } = program(url)
    onTestFinished(() => jobs.close())
    const again = await give.dispatch(1)
    await jobs.run()
    await expect(jobs.handle(done).result()).rejects.toMatchObject({ code: 'RESULT_FORGED' })
    const store = await jobs.store()
    for (const id of [after, again.id])
      expect(await store.get(id)).toMatchObject({ state: 'dead', reason: 'rejected', errors: [{ code: 'RESULT_FORGED' }] })
    expect(taken).toEqual([])
  })

  it('are handed on where what is not signed is accepted', async () => {
    const { url, done } = await migrated()
    const { jobs, give, taken } = program(url, { unsigned: 'accept' })
    onTestFinished(() => jobs.close())
    const again = await give.dispatch(1)
    await jobs.run()
    expect(await jobs.handle(done).result()).toEqual({ n: 1 })
    expect(await again.result()).toEqual({ n: 1 })
    expect(taken).toEqual([[{ n: 1 }]])
  })
})
