import { describe, expect, test } from 'vitest'
import { openMysql } from '../../../src/engines/mysql/index.ts'
import { freshDatabase } from '../../services.ts'
import { mysqlEngines } from './ground.ts'

describe.each(mysqlEngines)('opening %s', (engine) => {
  async function refusal(change: (url: URL) => void): Promise<Error & { readonly code: string }> {
    await using database = await freshDatabase(engine)
    const url = new URL(database.url)
    change(url)
    const opened = openMysql({ url: url.href })
    return opened.then(
      () => expect.fail('it was opened'),
      (thrown) => thrown,
    )
  }

  test('a wrong password is refused in the words of the server, without the password', async () => {
    const error = await refusal((url) => {
      url.username = 'nobody'
      url.password = 'very%20secret'
    })
    expect(error).toMatchObject({
      code: 'DATABASE_FAILED',
      message: expect.stringMatching(/Access denied.*Check the user and the password/),
    })
    expect(`${error.message} ${JSON.stringify(error.cause)}`).not.toContain('secret')
  })

  test('a database that is not there is named', async () => {
    const error = await refusal((url) => {
      url.pathname = '/missing'
    })
    expect(error).toMatchObject({ code: 'DATABASE_NOT_FOUND', message: expect.stringContaining(`Unknown database 'missing'`) })
  })

  test('a server that does not answer cannot be reached', async () => {
    const error = await refusal((url) => {
      url.port = '1'
    })
    expect(error).toMatchObject({ code: 'DATABASE_UNREACHABLE', message: expect.stringContaining('ECONNREFUSED') })
  })

  test('ssl=true asks for TLS, with a certificate that is checked', async () => {
    const error = await refusal((url) => url.searchParams.set('ssl', 'true'))
    expect(error.message).toMatch(/does not support secure connection|certificate/i)
  })

  test('ssl=false asks for none', async () => {
    await using database = await freshDatabase(engine)
    const backend = await openMysql({ url: `${database.url}?ssl=false` })
    await backend[Symbol.asyncDispose]()
  })

  test('a mariadb:// URL says the same as a mysql:// one', async () => {
    await using database = await freshDatabase(engine)
    const backend = await openMysql({ url: database.url.replace('mysql:', 'mariadb:') })
    expect(backend.kind).toBe('mysql')
    await backend[Symbol.asyncDispose]()
  })
})
