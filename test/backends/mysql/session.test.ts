import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type MysqlGround, mysqlEngines, mysqlGround } from './ground.ts'

describe.each(mysqlEngines)('a session on %s', (engine) => {
  let ground: MysqlGround
  beforeAll(async () => {
    ground = await mysqlGround(engine)
  })
  afterAll(() => ground[Symbol.asyncDispose]())
  beforeEach(async () => {
    for (const table of ['jobs', 'lanes', 'counts', 'groups', 'once', 'paused'])
      await ground.plain.query(`DELETE FROM treadle_${table}`)
  })

  const id = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
  const columns = ['id', 'lane', 'state', 'run_at', 'created_at', 'identity', 'payload'] as const
  const job = (number: number, more = {}) => ({
    id: id(number),
    lane: 1,
    state: 0,
    run_at: 1_800_000_000_000 + number,
    created_at: 1_800_000_000_000,
    identity: '{}',
    payload: 'null',
    ...more,
  })

  test('texts come back as they were written, whatever they hold', async () => {
    const { database } = ground
    const texts = ["it's", '\\', "\\'", '?', '\0\u001a\n\r\t', ':name', '"', '🙂 é', '/* */ -- #', '{jobs}', '', ' a ']
    await database.insert(
      'jobs',
      columns,
      texts.map((payload, number) => job(number, { payload })),
    )
    const rows = await database.all<{ payload: string }>('SELECT payload FROM {jobs} ORDER BY id')
    expect(rows.map(({ payload }) => payload)).toEqual(texts)
    for (const text of texts) {
      expect(await database.all('SELECT payload FROM {jobs} WHERE payload = ?', [text])).toEqual([{ payload: text }])
    }
  })

  test('numbers come back as numbers, also those that the engine counts in another way', async () => {
    const { database } = ground
    const most = Number.MAX_SAFE_INTEGER
    await database.insert(
      'counts',
      ['lane', 'state', 'jobs'],
      [
        { lane: 1, state: 0, jobs: most },
        { lane: 2, state: 0, jobs: -1 },
      ],
    )
    const [row] = await database.all(
      'SELECT MAX(jobs) AS most, SUM(lane) AS sum, COUNT(*) AS count, MIN(jobs) < 0 AS less FROM {counts}',
    )
    expect(row).toEqual({ most, sum: 3, count: 2, less: 1 })
    expect(await database.all('SELECT MAX(jobs) AS most FROM {counts} WHERE lane = 3')).toEqual([{ most: null }])
  })

  test('a list stands for all its values', async () => {
    const { database } = ground
    await database.insert(
      'jobs',
      columns,
      [1, 2, 3].map((number) => job(number)),
    )
    const rows = await database.all('SELECT id FROM {jobs} WHERE id IN (?) AND run_at IN (?) ORDER BY id', [
      [id(3), id(1)],
      [1_800_000_000_003],
    ])
    expect(rows).toEqual([{ id: id(3) }])
  })

  test('names are the same only where each of their bytes is', async () => {
    const { database } = ground
    const names = ['a', 'A', 'a ', 'ä', 'a\u0308', '']
    await database.insert(
      'paused',
      ['queue'],
      names.map((queue) => ({ queue })),
    )
    for (const name of names) {
      expect(await database.all('SELECT queue FROM {paused} WHERE queue = ?', [name])).toEqual([{ queue: name }])
    }
  })

  test('a change finds also rows that have the values already', async () => {
    const { database } = ground
    await database.insert('jobs', columns, [job(1), job(2)])
    expect(await database.run('UPDATE {jobs} SET lane = 1')).toBe(2)
    expect(await database.run('DELETE FROM {jobs} WHERE id IN (?)', [[id(1), id(3)]])).toBe(1)
  })

  test('of new rows those are left out that are there already, by whichever key', async () => {
    const { database } = ground
    const held = [...columns, 'held_key'] as const
    await database.insert('jobs', held, [job(1), job(2, { held_key: 'k' })])
    const rows = [job(1), job(3), job(4, { held_key: 'k' }), job(5, { held_key: 'l' }), job(6, { held_key: 'l' })]
    expect(await database.insertNew('jobs', held, rows, 'id')).toEqual(new Set([id(3), id(5)]))
    expect(await database.all('SELECT id FROM {jobs} ORDER BY id')).toEqual([1, 2, 3, 5].map((number) => ({ id: id(number) })))
    expect(await database.insertNew('jobs', held, [], 'id')).toEqual(new Set())
  })

  test('a row that is there already is an error where new ones are asked for', async () => {
    const { database } = ground
    await database.insert('jobs', columns, [job(1)])
    await expect(database.insert('jobs', columns, [job(2), job(1)])).rejects.toMatchObject({ code: 'DATABASE_FAILED' })
    expect(await database.all('SELECT id FROM {jobs}')).toEqual([{ id: id(1) }])
  })

  test('rows are inserted, or changed in some columns where they are there', async () => {
    const { database } = ground
    const write = (turn: number, version: string) =>
      database.upsert(
        'groups',
        ['lane', 'grp', 'turn', 'version'],
        ['a', 'b'].map((grp) => ({ lane: 1, grp, turn, version })),
        ['lane', 'grp'],
        ['version'],
      )
    await write(1, 'one')
    await write(2, 'two')
    expect(await database.all('SELECT grp, turn, version FROM {groups} ORDER BY grp')).toEqual([
      { grp: 'a', turn: 1, version: 'two' },
      { grp: 'b', turn: 1, version: 'two' },
    ])
  })

  test('each row gets its own values', async () => {
    const { database } = ground
    await database.insert(
      'jobs',
      columns,
      [1, 2, 3].map((number) => job(number)),
    )
    await database.update(
      'jobs',
      ['id'],
      ['state', 'result', 'lease_until'],
      [
        { id: id(1), state: 3, result: null, lease_until: 7 },
        { id: id(2), state: 3, result: "'2'", lease_until: null },
        { id: id(9), state: 3, result: null, lease_until: null },
      ],
    )
    await database.update(
      'jobs',
      ['id'],
      ['attempts'],
      [
        { id: id(2), attempts: 1 },
        { id: id(3), attempts: 1 },
      ],
    )
    expect(await database.all('SELECT state, result, lease_until, attempts FROM {jobs} ORDER BY id')).toEqual([
      { state: 3, result: null, lease_until: 7, attempts: 0 },
      { state: 3, result: "'2'", lease_until: null, attempts: 1 },
      { state: 0, result: null, lease_until: null, attempts: 1 },
    ])
    await database.insert(
      'groups',
      ['lane', 'grp', 'turn', 'version'],
      ['a', 'b'].map((grp) => ({ lane: 1, grp, turn: 0, version: 'one' })),
    )
    await database.update(
      'groups',
      ['lane', 'grp'],
      ['turn'],
      [
        { lane: 1, grp: 'b', turn: 5 },
        { lane: 2, grp: 'a', turn: 5 },
      ],
    )
    expect(await database.all('SELECT grp, turn FROM {groups} ORDER BY grp')).toEqual([
      { grp: 'a', turn: 0 },
      { grp: 'b', turn: 5 },
    ])
  })
})
