import { type Connection, type ConnectionOptions, createConnection } from 'mysql2/promise'
import { type JobBuilder, type Treadle, treadle } from 'treadle'
import { fromStatements } from 'treadle/transactions'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { mysqlEngines } from '../backends/mysql/ground.ts'
import { SqlGround } from '../backends/sql-ground.ts'
import { clientsOf, type OpenClient } from './server-clients.ts'

/** In latin1 the driver cuts ħ to a byte that is a quote. */
const texts = [
  'plain',
  "it's",
  '"',
  'a\\b',
  "\\'",
  '\0\u001a\n',
  'é',
  'ħ',
  'ħ, (SELECT 1), ħ',
  'ħ); DROP TABLE orders -- ',
  '🙂',
  '\u2028',
]
const noBackslashes = "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'"
const refusal = { code: 'TRANSACTION_INVALID', message: expect.stringContaining('must be utf8mb4') }

describe.each(mysqlEngines)('connections of callers on %s', (engine) => {
  const ground = new SqlGround(engine)
  let jobs: Treadle
  let mail: JobBuilder
  const connections: Connection[] = []

  beforeAll(async () => {
    await ground.start()
    jobs = treadle(ground.url, { signingKey: 'a secret of at least 32 characters' })
    await jobs.open()
    mail = jobs.define('mail', async () => {})
    await ground.query('CREATE TABLE orders (id INT)')
  })
  afterEach(async () => {
    // A transaction that a test has left open would be waited for.
    for (const connection of connections.splice(0)) connection.destroy()
    for (const table of ['jobs', 'counts', 'unique_keys']) await ground.query(`DELETE FROM {${table}}`)
  })
  afterAll(async () => {
    await jobs.close()
    await ground.stop()
  })

  async function connected(options: ConnectionOptions, ...statements: readonly string[]) {
    const connection = await createConnection({ uri: ground.url, ...options })
    connections.push(connection)
    for (const sql of statements) await connection.query(sql)
    await connection.beginTransaction()
    return connection
  }

  async function client(open: OpenClient) {
    const opened = await open(ground.url)
    onTestFinished(async () => void (await opened.close()))
    return opened
  }

  /** The payloads of the jobs that are stored, in the order of their dispatch. */
  async function payloads(): Promise<readonly unknown[]> {
    const stored = await (await jobs.store()).list({ limit: 100 })
    return stored.map(({ payload }) => JSON.parse(payload)).reverse()
  }

  it.each<[string, ConnectionOptions, readonly string[]]>([
    ['were made for latin1', { charset: 'latin1' }, []],
    ['were made for the utf8 of three bytes', { charset: 'utf8' }, []],
    ['were set to another charset', {}, ['SET NAMES latin1']],
    ['give answers in another charset', {}, ['SET character_set_results = latin1']],
    ['give texts as they are stored', {}, ['SET character_set_results = NULL']],
  ])('that %s are refused, with nothing stored', async (_, options, statements) => {
    const connection = await connected(options, ...statements)
    for (const text of texts) await expect(mail.in(connection).dispatch(text)).rejects.toMatchObject(refusal)
    await connection.commit()
    expect(await payloads()).toEqual([])
  })

  it.each<[string, ConnectionOptions, readonly string[]]>([
    ['take a backslash for a character', {}, [noBackslashes]],
    ['take double quotes for names', {}, [`SET SESSION sql_mode = 'ANSI'`]],
    ['write in another charset than the server reads', { charset: 'latin1' }, ['SET NAMES utf8mb4']],
    ['compare in another charset', {}, ['SET collation_connection = latin1_swedish_ci']],
    ['take several statements at once', { multipleStatements: true }, [noBackslashes]],
  ])('that %s hold exactly what is dispatched', async (_, options, statements) => {
    const connection = await connected(options, ...statements)
    for (const text of texts) await mail.in(connection).dispatch({ text })
    await mail.in(connection).dispatchMany(texts)
    await connection.commit()
    expect(await payloads()).toEqual([...texts.map((text) => ({ text })), ...texts])
    expect(await ground.query('SELECT id FROM orders')).toEqual([])
    expect(await jobs.run()).toMatchObject({ succeeded: 2 * texts.length, dead: 0 })
  })

  it.each([
    ['charset', 'SET NAMES latin1'],
    ['charset of the driver too', 'SET NAMES utf8mb3'],
    ['meaning of a backslash', noBackslashes],
  ])('that change their %s after a dispatch hold exactly what is dispatched then', async (_, change) => {
    const connection = await connected({})
    await mail.in(connection).dispatch('before')
    await connection.query(change)
    for (const text of texts) await mail.in(connection).dispatch(text)
    await connection.commit()
    expect(await payloads()).toEqual(['before', ...texts])
  })

  it('that change their charset after a dispatch are refused where a text would be read', async () => {
    const unique = { key: 'é', onConflict: 'merge' } as const
    await mail.dispatch({ first: 'é🙂' }, { unique })
    const connection = await connected({})
    await mail.in(connection).dispatch('before')
    await connection.query('SET NAMES latin1')
    await expect(mail.in(connection).dispatch({ second: 'ħ' }, { unique })).rejects.toMatchObject(refusal)
    await connection.query('SET NAMES utf8mb4')
    await mail.in(connection).dispatch({ third: "'ħ'" }, { unique })
    await connection.commit()
    expect(await payloads()).toEqual([{ first: 'é🙂', third: "'ħ'" }, 'before'])
  })

  it('that a function runs statements on are looked at each time', async () => {
    const connection = await connected({})
    const tx = fromStatements(async (sql) => {
      const [rows] = await connection.query(sql)
      return Array.isArray(rows) ? rows : []
    })
    await mail.in(tx).dispatch('ħ')
    await connection.query('SET NAMES latin1')
    await expect(mail.in(tx).dispatch('ħ')).rejects.toMatchObject(refusal)
    await connection.query(`SET NAMES utf8mb4`)
    await connection.query(noBackslashes)
    await mail.in(tx).dispatch("'\\ħ")
    await connection.commit()
    expect(await payloads()).toEqual(['ħ', "'\\ħ"])
  })

  describe.each(Object.entries(clientsOf[engine]))('in a transaction of %s', (_, open) => {
    it('hold exactly what is dispatched, also where a backslash is a character', async () => {
      await (await client(open)).transaction(async (tx, execute) => {
        await execute(noBackslashes)
        for (const text of texts) await mail.in(tx).dispatch(text)
      })
      expect(await payloads()).toEqual(texts)
    })

    it('are refused where texts would be changed', async () => {
      await (await client(open)).transaction(async (tx, execute) => {
        await execute('SET NAMES latin1')
        await expect(mail.in(tx).dispatch('ħ')).rejects.toMatchObject(refusal)
      })
      expect(await payloads()).toEqual([])
    })
  })
})
