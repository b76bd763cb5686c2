import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgres } from '../../../src/engines/postgres/index.ts'
import { type FreshDatabase, freshDatabase } from '../../services.ts'

describe('opening PostgreSQL', () => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase('postgres')
  })
  afterAll(() => database.dispose())

  test('as a user that is not there is refused with what is wrong with the URL', async () => {
    const opened = openPostgres({ url: changed((url) => Object.assign(url, { username: 'nobody', password: 'secret' })) })
    await expect(opened).rejects.toMatchObject({
      code: 'DATABASE_FAILED',
      message: expect.stringMatching(/^PostgreSQL refuses the login of this URL: .*"nobody".*Check the user and the password/),
    })
    await expect(opened).rejects.not.toThrow('secret')
  })

  test('a database that is not there is named', async () => {
    const opened = openPostgres({ url: changed((url) => Object.assign(url, { pathname: '/missing' })) })
    await expect(opened).rejects.toMatchObject({
      code: 'DATABASE_NOT_FOUND',
      message: expect.stringContaining('database "missing" does not exist'),
    })
  })

  test('a queue that is not there yet has the server refuse no statement', async () => {
    const refused: unknown[] = []
    const pool = new pg.Pool({ connectionString: database.url })
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>
      const watched = (...given: unknown[]) => {
        const answer = query(...given)
        answer?.catch?.((thrown) => refused.push(thrown))
        return answer
      }
      Object.assign(client, { query: watched })
    })
    const queue = await openPostgres({ pool: pool as never })
    await queue[Symbol.asyncDispose]()
    expect(refused).toEqual([])
    await pool.end()
  })

  function changed(change: (url: URL) => void): string {
    const url = new URL(database.url)
    change(url)
    return url.href
  }
})
