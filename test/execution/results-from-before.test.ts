import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Treadle, type TreadleOptions, treadle } from 'treadle'
import { openMysqlUpkeep } from 'treadle/mysql'
import { openPostgresUpkeep } from 'treadle/postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { OpenUpkeep } from '../../src/queue/contract/upkeep.ts'
import { execute, query } from '../processes/database.ts'
import { freshDatabase } from '../services.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const signingKey = 'k1:a secret of the tests alone'

interface Ground {
  readonly url: string
  /** Leaves the queue as a version without seals would have left it. */
  unseal(): Promise<void>
}

/** The last version of the schema on servers that had no place for seals. */
const unsealed = 2

async function throughUnsealed(upkeep: OpenUpkeep): Promise<void> {
  await upkeep.schema.migrate(unsealed)
  await upkeep.schema.migrate()
  await upkeep[Symbol.asyncDispose]()
}

/** There is no way back to a version of SQLite's schema without them. */
function unsealFile(path: string): void {
  const tables = query<{ name: string }>(
    path,
    "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'seal'",
  )
  for (const { name } of tables) execute(path, `UPDATE ${name} SET seal = NULL`)
}

const grounds: Readonly<Record<string, () => Promise<Ground>>> = {
  sqlite: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'treadle-before-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'jobs.db')
    return { url: `sqlite:${path}`, unseal: async () => unsealFile(path) }
  },
  postgres: async () => {
    const { url, dispose } = await freshDatabase('postgres')
    onTestFinished(dispose)
    return { url, unseal: async () => throughUnsealed(await openPostgresUpkeep({ url })) }
  },
  mariadb: async () => {
    const { url, dispose } = await freshDatabase('mariadb')
    onTestFinished(dispose)
    return { url, unseal: async () => throughUnsealed(await openMysqlUpkeep({ url })) }
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
    await ground.unseal()
    return { url: ground.url, done: done.id, after: after.id }
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
