import { readdirSync, readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { messageOf, TreadleError } from '../../src/core/errors.ts'
import { soundLogger } from '../../src/core/logger.ts'
import { masked, maskedUrl } from '../../src/core/text/masking.ts'
import { writtenReason } from '../../src/core/text/reason.ts'
import { loggerInto } from '../world.ts'

describe('a URL', () => {
  test.each([
    ['postgres://ada:secret@db/app', 'postgres://ada:***@db/app'],
    ['postgres://ada:se:c@ret@db/app', 'postgres://ada:***@db/app'],
    ['postgres://ada:se/c?r#et@db/app', 'postgres://ada:***@db/app'],
    ['postgres://ada:sec ret@db/app', 'postgres://ada:***@db/app'],
    ['postgres://ada:12/secret@db/app', 'postgres://ada:***@db/app'],
    ['postgres:/ada:secret@db/app', 'postgres:/ada:***@db/app'],
    ['postgres:secret@db/app', 'postgres:***@db/app'],
    ['postgres//ada:secret@db/app', 'postgres//ada:***@db/app'],
    ['  postgres:\\\\ada:secret@db/app', '  postgres:\\\\ada:***@db/app'],
    ['ada:secret@db/app', 'ada:***@db/app'],
    ['postgres://ada%3Asecret@db/app', 'postgres://ada:***@db/app'],
    ['postgres://ada:secret%40db/app', 'postgres://ada:***%40db/app'],
    ['redis://:secret@db', 'redis://:***@db'],
    ['postgres://db/app?options=-c%20password%3Dsecret', 'postgres://db/app?options=***'],
    ['redis://secret@db', 'redis://***@db'],
    ['valkeys://secret@db', 'valkeys://***@db'],
    ['https://secret@host/x', 'https://***@host/x'],
    ['postgres://ada:secret', 'postgres://ada:***'],
    ['postgres://ada:12secret/app', 'postgres://ada:***/app'],
    ['sqlite:jobs.db?key=secret', 'sqlite:jobs.db?key=***'],
    [
      'servicebus:Endpoint=sb://bus/;SharedAccessSignature=SharedAccessSignature sr=x&sig=secret&skn=send',
      'servicebus:Endpoint=sb://bus/;SharedAccessSignature=***&sig=***&skn=send',
    ],
    ['POSTGRES://ADA:SECRET@DB', 'POSTGRES://ADA:***@DB'],
    ['postgres://db/app?user=ada&password=secret&x=1', 'postgres://db/app?user=ada&password=***&x=1'],
    ['postgres://db/app?sslPassword=a@secret;Token=secret', 'postgres://db/app?sslPassword=***;Token=***'],
    ['postgres://db/app?pass%77ord=secret', 'postgres://db/app?pass%77ord=***'],
    ['mysql://db/app?passwd=secret&secret=secret', 'mysql://db/app?passwd=***&secret=***'],
    ['Endpoint=sb://bus/;SharedAccessKey=secret', 'Endpoint=sb://bus/;SharedAccessKey=***'],
    ['postgres://db/app?listenUrl=postgres%3A%2F%2Fada%3Asecret%40db', 'postgres://db/app?listenUrl=***'],
  ])('is shown without its password: %s', (url, shown) => {
    expect(maskedUrl(url)).toBe(shown)
    expect(maskedUrl(url).toLowerCase()).not.toContain('secret@')
  })

  test.each([
    'sqlite:jobs.db',
    'sqlite:/home/ada@work/a:b@c.db',
    'memory:',
    'postgres://db:5432/app?application_name=me@work',
    'postgres://ada@db/app',
    'http://127.0.0.1:8080/x',
    'postgres://one:5432,two:5433/app',
    'postgres://[::1]:5432/app',
    'redis://db:6379',
  ])('without one is shown as it is: %s', (url) => {
    expect(maskedUrl(url)).toBe(url)
  })
})

describe('a text', () => {
  test.each([
    ['connect to postgres://ada:secret@db failed', 'connect to postgres://ada:***@db failed'],
    ['bad URL "mysql://ada:my secret@db/app"', 'bad URL "mysql://ada:***@db/app"'],
    ['GET https://ada:secret@host/x', 'GET https://ada:***@host/x'],
    ['postgres:ada:secret@db is none', 'postgres:***@db is none'],
    ["host=db password='my secret' user=ada", 'host=db password=*** user=ada'],
    ['no access with SharedAccessSignature sr=x&sig=secret&skn=y', 'no access with SharedAccessSignature sr=x&sig=***&skn=y'],
    ['getaddrinfo ENOTFOUND ada:secret@db', 'getaddrinfo ENOTFOUND ***@db'],
    ['POST https://secret@host/x?to=ada@example.com', 'POST https://***@host/x?to=ada@example.com'],
    ['POST https://host/x?to=ada@example.com', 'POST https://host/x?to=ada@example.com'],
    ['PGPASSWORD=secret psql', 'PGPASSWORD=*** psql'],
    ['TREADLE_TOKEN=secret', 'TREADLE_TOKEN=***'],
    ["{ user: 'ada', password: 'secret' }", "{ user: 'ada', password: '***' }"],
    ['{"secret":"secret"}', '{"secret":"***"}'],
  ])('that quotes one is told without it: %s', (text, shown) => {
    expect(masked(text)).toBe(shown)
  })

  test.each([
    'sent to:ada@example.com',
    'the token of job 7 is not the current one',
    'key=order-7 is taken',
    "Access denied for user 'ada'@'localhost' (using password: YES)",
    'see https://example.com/docs#a@b',
  ])('that quotes none stays: %s', (text) => {
    expect(masked(text)).toBe(text)
  })

  test.each([
    ['a://'.repeat(20_000)],
    [`postgres://${'a:'.repeat(30_000)}`],
    ['password'.repeat(8_000)],
    ['a.'.repeat(40_000).concat('@')],
    ["password: '".repeat(6_000)],
  ])('of any form is looked through to its end', (text) => {
    expect(masked(text)).toBeTypeOf('string')
  })

  test('takes time that grows with its length alone: nothing is repeated without a bound', () => {
    const replaced = vi.spyOn(String.prototype, 'replaceAll')
    masked('password=x')
    const patterns = replaced.mock.calls.map(([pattern]) => String(pattern))
    replaced.mockRestore()
    expect(patterns).toHaveLength(6)
    for (const pattern of patterns) {
      const bare = pattern.replaceAll(/\\.|\[(?:\\.|[^\]])*\]/g, 'x')
      expect(bare, pattern).not.toMatch(/[*+]|\{\d+,\}/)
    }
  })
})

describe('an error', () => {
  const url = 'postgres://ada:sec@ret@db'

  test('has no password in its message, its cause and what hangs on that, however it is printed', () => {
    const cause = Object.assign(new TypeError(`Invalid URL ${url}`), { code: 'ERR_INVALID_URL', input: url })
    const error = new TreadleError('DATABASE_FAILED', `No: ${url}`, { cause: new AggregateError([cause], 'several', { cause }) })
    for (const text of [inspect(error, { depth: 9 }), messageOf(error), JSON.stringify(writtenReason(error)), error.stack]) {
      expect(text).not.toContain('ret@')
      expect(text).toContain('postgres://ada:***@db')
    }
  })

  test('of a handler is written down without it', () => {
    expect(JSON.stringify(writtenReason(new Error(`connect ${url}`)))).not.toContain('ret@')
  })

  test('that is frozen, or whose properties throw, is left as it is', () => {
    const frozen = Object.freeze(new Error(url))
    expect(new TreadleError('DATABASE_FAILED', 'x', { cause: frozen }).cause).toBe(frozen)
  })
})

test('a logger is told no password', () => {
  const log: string[] = []
  soundLogger(loggerInto(log)).warn('lost postgres://ada:secret@db')
  expect(log).toEqual(['warn lost postgres://ada:***@db'])
})

test('a URL is put into a message only by those who mask it', () => {
  // Here it is one that was masked already, or none of a database.
  const masking = ['core/text/masking.ts', 'cli/', 'isolation/serving.ts', 'server/http/api.ts', 'handlers/url-options.ts']
  const printed = /\$\{(?!maskedUrl|nameOf|unsetHint)[^}]*\b(?:url|listenUrl|connectionString)\b(?!\.replace)[^}]*\}/
  const sourcePaths = readdirSync(new URL('../../src', import.meta.url), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  const lines = sourcePaths.flatMap((path) => {
    if (masking.some((home) => path.startsWith(home))) return []
    const text = readFileSync(new URL(`../../src/${path}`, import.meta.url), 'utf8')
    return text
      .split('\n')
      .filter((line) => printed.test(line) && !line.includes('maskedUrl('))
      .map((line) => `${path}: ${line}`)
  })
  expect(lines).toEqual([])
})

test('an error with a cause that does not let itself be asked what it is can be made', () => {
  const hostile = new Proxy(new Error('mine'), {
    getPrototypeOf: () => {
      throw new Error('not yours')
    },
  })
  expect(new TreadleError('TIMEOUT', 'too late', { cause: hostile }).message).toBe('too late')
})
