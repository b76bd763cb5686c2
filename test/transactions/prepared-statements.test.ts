import type { PoolConnection } from 'mysql2/promise'
import type { CallerTransaction } from 'treadle'
import { fromStatements } from 'treadle/transactions'
import { describe, expect, it } from 'vitest'
import { ServerWorld, serverEngines } from './server-world.ts'

const engines = serverEngines.filter((engine) => engine !== 'postgres')

describe.each(engines)('a transaction of a client that prepares every statement on %s', (engine) => {
  const world = new ServerWorld(engine)

  /** One in which no jobs can be counted, as if the disk were full at that moment. */
  function refusing(connection: PoolConnection, refused: RegExp): CallerTransaction {
    return fromStatements(async (sql) => {
      if (refused.test(sql)) throw Object.assign(new Error('The table is full'), { errno: 1114 })
      const [rows] = await connection.execute(sql)
      return Array.isArray(rows) ? rows : []
    })
  }

  it('holds what is dispatched', async () => {
    const { tx, query } = await world.begun()
    const prepared = refusing(tx as PoolConnection, /^nothing$/)
    expect((await world.mail.in(prepared).dispatch(1, { unique: 'k' })).created).toBe(true)
    expect((await world.mail.in(prepared).dispatch(2, { unique: 'k' })).created).toBe(false)
    expect(await world.states()).toEqual([])
    await query('COMMIT')
    expect(await world.states()).toEqual(['ready'])
    expect(await world.ground.faults()).toEqual([])
  })

  // MySQL itself prepares no savepoints.
  it.runIf(engine === 'mariadb')('takes back a dispatch that fails, and goes on', async () => {
    const { tx, query } = await world.begun()
    const dispatch = world.mail.in(refusing(tx as PoolConnection, /INSERT INTO treadle_counts/)).dispatch(1)
    await expect(dispatch).rejects.toMatchObject({ code: 'DATABASE_FAILED', message: expect.stringMatching(/full \(1114\)$/) })
    await query('COMMIT')
    expect(await world.states()).toEqual([])
  })

  it.runIf(engine === 'mysql')('must be rolled back after a dispatch that fails, and is told so', async () => {
    const { tx, query } = await world.begun()
    const dispatch = world.mail.in(refusing(tx as PoolConnection, /INSERT INTO treadle_counts/)).dispatch(1)
    const message = expect.stringMatching(/full \(1114\)\. It cannot be undone alone, .*: roll the transaction back\.$/)
    await expect(dispatch).rejects.toMatchObject({ code: 'DATABASE_FAILED', message, cause: { errno: 1114 } })
    await query('ROLLBACK')
    expect(await world.states()).toEqual([])
    expect(await world.ground.faults()).toEqual([])
  })
})
