import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { type ErrorCode, type Treadle, TreadleError, type TreadleOptions, treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { execute, faultsOf, query, scratchFolder } from './processes/database.ts'
import { endPrograms, startProgram } from './processes/program.ts'

/** What a caller without types may give. */
type Anything = never

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const circle: Record<string, unknown> = {}
circle.self = circle

let folder: ReturnType<typeof scratchFolder>
let path: string
beforeEach(() => {
  folder = scratchFolder()
  path = folder.file('jobs.db')
})
afterEach(async () => {
  await endPrograms()
  folder.remove()
})

interface BadInput {
  readonly what: string
  readonly does: (jobs: Treadle) => unknown
  readonly code: ErrorCode
  /** What the message must say, so that the reader knows what to do. */
  readonly says: RegExp
}

describe('a bad dispatch is one clear error, and stores nothing', () => {
  const cases: readonly BadInput[] = [
    {
      what: 'an unknown option',
      does: (jobs) => jobs.dispatch('count', 1, { prioriti: 5 } as Anything),
      code: 'CONFIG_INVALID',
      says: /unknown option "prioriti", did you mean "priority"/,
    },
    {
      what: 'several wrong options',
      does: (jobs) => jobs.dispatch('count', 1, { queue: 'a b', maxRetries: -1, unique: '' }),
      code: 'CONFIG_INVALID',
      says: /queue.*maxRetries.*unique/,
    },
    {
      what: 'both delay and at',
      does: (jobs) => jobs.dispatch('count', 1, { delay: '1s', at: new Date() }),
      code: 'CONFIG_INVALID',
      says: /either delay or at/,
    },
    {
      what: 'a delay that is no duration',
      does: (jobs) => jobs.dispatch('count', 1, { delay: 'soon' }),
      code: 'DURATION_INVALID',
      says: /delay must be .*'30s'.*got 'soon'/,
    },
    { what: 'a negative delay', does: (jobs) => jobs.dispatch('count', 1, -5), code: 'DURATION_INVALID', says: /delay must be/ },
    {
      what: 'an instant that is none',
      does: (jobs) => jobs.dispatch('count', 1, { at: 'tomorrow' }),
      code: 'INSTANT_INVALID',
      says: /at must be/,
    },
    {
      what: 'a priority that is none',
      does: (jobs) => jobs.dispatch('count', 1, { priority: 'urgent' as Anything }),
      code: 'CONFIG_INVALID',
      says: /priority/,
    },
    {
      what: 'a queue name that is too long',
      does: (jobs) => jobs.dispatch('count', 1, { queue: 'q'.repeat(65) }),
      code: 'CONFIG_INVALID',
      says: /1 to 64/,
    },
    {
      what: 'a unique key that is too long',
      does: (jobs) => jobs.dispatch('count', 1, { unique: 'k'.repeat(513) }),
      code: 'CONFIG_INVALID',
      says: /1 to 512.*513/,
    },
    {
      what: 'a unique key that is a number',
      does: (jobs) => jobs.dispatch('count', 1, { unique: 5 as Anything }),
      code: 'CONFIG_INVALID',
      says: /unique must be a text/,
    },
    {
      what: 'meta that is not JSON',
      does: (jobs) => jobs.dispatch('count', 1, { meta: { when: 1n } as Anything }),
      code: 'PAYLOAD_NOT_JSON',
      says: /meta of "count".*"when" is a bigint/,
    },
    {
      what: 'a timeout of nothing',
      does: (jobs) => jobs.dispatch('count', 1, { timeout: 0 }),
      code: 'CONFIG_INVALID',
      says: /timeout must be more than 0/,
    },
    {
      what: 'a function in the payload',
      does: (jobs) => jobs.dispatch('count', { mail: { send: () => {} } }),
      code: 'PAYLOAD_NOT_JSON',
      says: /"mail.send" is a function/,
    },
    {
      what: 'a BigInt',
      does: (jobs) => jobs.dispatch('count', { list: [1, 2n] }),
      code: 'PAYLOAD_NOT_JSON',
      says: /"list\[1\]" is a bigint/,
    },
    { what: 'a symbol', does: (jobs) => jobs.dispatch('count', Symbol('x')), code: 'PAYLOAD_NOT_JSON', says: /it is a symbol/ },
    { what: 'a cycle', does: (jobs) => jobs.dispatch('count', circle), code: 'PAYLOAD_NOT_JSON', says: /circular/ },
    {
      what: 'undefined at the root',
      does: (jobs) => jobs.dispatch('count', undefined),
      code: 'PAYLOAD_NOT_JSON',
      says: /it is undefined/,
    },
    { what: 'NaN', does: (jobs) => jobs.dispatch('count', { ratio: 0 / 0 }), code: 'PAYLOAD_NOT_JSON', says: /"ratio" is NaN/ },
    {
      what: 'a Map',
      does: (jobs) => jobs.dispatch('count', { seen: new Map() }),
      code: 'PAYLOAD_NOT_JSON',
      says: /"seen" is a Map/,
    },
    {
      what: 'a Date that is none',
      does: (jobs) => jobs.dispatch('count', { at: new Date('x') }),
      code: 'PAYLOAD_NOT_JSON',
      says: /"at" is an invalid Date/,
    },
    {
      what: 'a payload that is too large',
      does: (jobs) => jobs.dispatch('count', 'x'.repeat(1024 * 1024)),
      code: 'PAYLOAD_TOO_LARGE',
      says: /1048578 bytes.*Store it elsewhere/,
    },
    {
      what: 'a payload that does not fit the schema',
      does: (jobs) => jobs.dispatch('mail', { to: 5 }),
      code: 'PAYLOAD_INVALID',
      says: /payload of "mail".*to:/,
    },
    {
      what: 'a job that nobody defined',
      does: (jobs) => jobs.dispatch('coutn', 1),
      code: 'JOB_UNKNOWN',
      says: /"coutn".*Defined here: .*count/,
    },
    {
      what: 'no job at all',
      does: (jobs) => jobs.dispatch(undefined as Anything, 1 as Anything),
      code: 'JOB_UNKNOWN',
      says: /job/,
    },
    {
      what: 'one bad payload among thousands',
      does: (jobs) => jobs.dispatchMany('count', [...new Array(2_500).fill(1), 2n]),
      code: 'PAYLOAD_NOT_JSON',
      says: /bigint/,
    },
    {
      what: 'one bad key among thousands',
      does: (jobs) => jobs.dispatchMany('keyed', [...new Array(2_500).fill(0).map((_, key) => `${key}`), '']),
      code: 'CONFIG_INVALID',
      says: /unique must be a text/,
    },
    {
      what: 'payloads that are no list',
      does: (jobs) => jobs.dispatchMany('count', 'many' as Anything),
      code: 'CONFIG_INVALID',
      says: /list/,
    },
  ]

  test.each(cases)('$what', async ({ does, code, says }) => {
    const jobs = await withOneJob()
    await expectRefusal(async () => does(jobs), code, says)
    await jobs.close()
    expectOneJob()
  })

  /** A program with a few definitions, and one job in its queue. */
  async function withOneJob(): Promise<Treadle> {
    const jobs = treadle(`sqlite:${path}`, { logger: silent })
    jobs.define('count', () => {})
    jobs.define('mail', { input: z.object({ to: z.string() }) }, () => {})
    jobs.define('keyed', (_key: string) => {}).unique((key) => key)
    await jobs.dispatch('count', 'kept')
    return jobs
  }

  function expectOneJob(): void {
    expect(query(path, 'SELECT payload FROM treadle_jobs')).toEqual([{ payload: '"kept"' }])
    expect(faultsOf(path)).toEqual([])
  }
})

describe('a bad definition is one clear error', () => {
  const cases: readonly BadInput[] = [
    {
      what: 'a name that is too long',
      does: (jobs) => jobs.define('j'.repeat(192), () => {}).toDefinition(),
      code: 'DEFINITION_INVALID',
      says: /at most 191 characters, got 192/,
    },
    {
      what: 'an empty name',
      does: (jobs) => jobs.define('', () => {}).toDefinition(),
      code: 'DEFINITION_INVALID',
      says: /not empty/,
    },
    {
      what: 'a name that is a number',
      does: (jobs) => jobs.define(5 as Anything, () => {}).toDefinition(),
      code: 'DEFINITION_INVALID',
      says: /must be a text/,
    },
    {
      what: 'a line feed in a name',
      does: (jobs) => jobs.define('a\nb', () => {}).toDefinition(),
      code: 'DEFINITION_INVALID',
      says: /control characters/,
    },
    {
      what: 'no handler',
      does: (jobs) => jobs.define('x', undefined as Anything),
      code: 'HANDLER_INVALID',
      says: /handler of "x" must be a function, or a class/,
    },
    {
      what: 'a class without handle',
      does: (jobs) => jobs.define('x', class Mail {} as Anything),
      code: 'HANDLER_INVALID',
      says: /class Mail without a "handle" method/,
    },
    {
      what: 'schemas without a handler',
      does: (jobs) => jobs.define('x', { input: z.string() } as Anything),
      code: 'HANDLER_INVALID',
      says: /must be a function/,
    },
    {
      what: 'a schema that is none',
      does: (jobs) => jobs.define('x', { input: { type: 'string' } } as Anything, (() => {}) as Anything),
      code: 'DEFINITION_INVALID',
      says: /Standard Schema/,
    },
    {
      what: 'the same name twice',
      does: (jobs) => [jobs.define('x', () => {}), jobs.define('x', () => {})],
      code: 'JOB_DUPLICATE',
      says: /"x" is defined twice/,
    },
    {
      what: 'a bad cron expression',
      does: (jobs) => jobs.define('x', () => {}).cron('61 * * * *'),
      code: 'SCHEDULE_INVALID',
      says: /61/,
    },
    {
      what: 'a time zone that does not exist',
      does: (jobs) =>
        jobs
          .define('x', () => {})
          .daily()
          .timezone('Mars/Olympus')
          .toDefinition(),
      code: 'SCHEDULE_INVALID',
      says: /Mars\/Olympus/,
    },
    {
      what: 'a timeout that is no duration',
      does: (jobs) => jobs.define('x', () => {}).timeout('fast'),
      code: 'DURATION_INVALID',
      says: /timeout must be/,
    },
    {
      what: 'retries that are no number',
      does: (jobs) =>
        jobs
          .define('x', () => {})
          .retries('3' as Anything)
          .toDefinition(),
      code: 'DEFINITION_INVALID',
      says: /whole number/,
    },
    {
      what: 'an outcome to keep that does not exist',
      does: (jobs) =>
        jobs
          .define('x', () => {})
          .keep({ failed: '1d' } as Anything)
          .toDefinition(),
      code: 'DEFINITION_INVALID',
      says: /failed/,
    },
  ]

  test.each(cases)('$what', async ({ does, code, says }) => {
    const jobs = treadle(`sqlite:${path}`)
    await expectRefusal(async () => does(jobs), code, says)
    await jobs.close()
    expect(readdirSync(folder.path)).toEqual([])
  })
})

describe('bad options are one clear error, and no file is made', () => {
  const cases: readonly (Omit<BadInput, 'does'> & { readonly options: object | null })[] = [
    {
      what: 'an unknown option',
      options: { signingkey: 'x' },
      code: 'CONFIG_INVALID',
      says: /"signingkey", did you mean "signingKey"/,
    },
    {
      what: 'several at once',
      options: { keep: { dead: 'long' }, allow: 5, maxPayloadBytes: 0, nonsense: 1 },
      code: 'CONFIG_INVALID',
      says: /nonsense.*keep\.dead.*allow.*maxPayloadBytes/,
    },
    { what: 'a signing key that is too short', options: { signingKey: 'short' }, code: 'KEY_INVALID', says: /16/ },
    { what: 'a signing key that is a number', options: { signingKey: 5 }, code: 'CONFIG_INVALID', says: /signingKey/ },
    {
      what: 'a signing key and none',
      options: { signingKey: 'x'.repeat(32), unsigned: true },
      code: 'CONFIG_INVALID',
      says: /either signingKey or unsigned/,
    },
    { what: 'an empty list of keys', options: { signingKey: [] }, code: 'KEY_INVALID', says: /at least one/ },
    {
      what: 'unsigned as a text',
      options: { unsigned: 'false' },
      code: 'CONFIG_INVALID',
      says: /unsigned must be true or false/,
    },
    { what: 'migrate as a text', options: { migrate: 'no' }, code: 'CONFIG_INVALID', says: /migrate must be true or false/ },
    { what: 'a logger without methods', options: { logger: {} }, code: 'CONFIG_INVALID', says: /logger/ },
    { what: 'a clock without methods', options: { clock: Date }, code: 'CONFIG_INVALID', says: /clock/ },
    { what: 'null in place of options', options: null, code: 'CONFIG_INVALID', says: /options/ },
  ]

  test.each(cases)('$what', async ({ options, code, says }) => {
    await expectRefusal(() => opened(`sqlite:${path}`, options as TreadleOptions), code, says)
    expect(readdirSync(folder.path)).toEqual([])
  })

  const urls: readonly (Omit<BadInput, 'does'> & { readonly url: unknown })[] = [
    { what: 'a scheme that nobody knows', url: 'mongodb://localhost/x', code: 'BACKEND_UNKNOWN', says: /Known: sqlite:FILE/ },
    { what: 'no scheme', url: 'jobs.db', code: 'BACKEND_UNKNOWN', says: /Known: sqlite:FILE/ },
    { what: 'no file', url: 'sqlite:', code: 'BACKEND_UNKNOWN', says: /Write sqlite:jobs\.db/ },
    { what: "SQLite's own way to say memory", url: 'sqlite::memory:', code: 'BACKEND_UNKNOWN', says: /memory:/ },
    { what: 'a number', url: 5, code: 'BACKEND_UNKNOWN', says: /sqlite:/ },
  ]

  test.each(urls)('a URL: $what', async ({ url, code, says }) => {
    await expectRefusal(() => opened(url as string), code, says)
  })

  test('a password in a URL stays out of the message', async () => {
    const error = await refusalOf(() => opened('mongodb://ada:secret@localhost/x'))
    expect(error.message).not.toContain('secret')
  })
})

describe('bad options of a worker are one clear error, and no job is touched', () => {
  const cases: readonly BadInput[] = [
    {
      what: 'an unknown option',
      does: (jobs) => jobs.work({ concurency: 5 } as Anything),
      code: 'CONFIG_INVALID',
      says: /"concurency", did you mean "concurrency"/,
    },
    {
      what: 'several at once',
      does: (jobs) => jobs.work({ concurrency: 0, lease: '10ms', queues: [] }),
      code: 'CONFIG_INVALID',
      says: /concurrency.*lease.*queues/,
    },
    {
      what: 'a concurrency that is a text',
      does: (jobs) => jobs.run({ concurrency: '5' as Anything }),
      code: 'CONFIG_INVALID',
      says: /concurrency must be a whole number/,
    },
    {
      what: 'a poll that is no duration',
      does: (jobs) => jobs.work({ poll: 'often' }),
      code: 'DURATION_INVALID',
      says: /poll must be/,
    },
    {
      what: 'a queue that is no list',
      does: (jobs) => jobs.work({ queues: 'mail' as Anything }),
      code: 'CONFIG_INVALID',
      says: /queues must be a list/,
    },
    { what: 'a job that is not defined', does: (jobs) => jobs.work({ jobs: ['coutn'] }), code: 'JOB_UNKNOWN', says: /coutn/ },
    { what: 'a limit of nothing', does: (jobs) => jobs.run({ limit: 0 }), code: 'CONFIG_INVALID', says: /limit must be/ },
    {
      what: 'a scheduler that is a text',
      does: (jobs) => jobs.work({ scheduler: 'no' as Anything }),
      code: 'CONFIG_INVALID',
      says: /scheduler must be true or false/,
    },
    {
      what: 'signals that are a number',
      does: (jobs) => jobs.work({ signals: 0 as Anything }),
      code: 'CONFIG_INVALID',
      says: /signals must be true or false/,
    },
    {
      what: 'a signal that is none',
      does: (jobs) => jobs.work({ signal: {} as Anything }),
      code: 'CONFIG_INVALID',
      says: /signal must be an AbortSignal/,
    },
    { what: 'null in place of options', does: (jobs) => jobs.work(null as Anything), code: 'CONFIG_INVALID', says: /options/ },
  ]

  test.each(cases)('$what', async ({ does, code, says }) => {
    const jobs = treadle(`sqlite:${path}`)
    jobs.define('count', () => {})
    await jobs.dispatch('count', 'kept')
    await expectRefusal(async () => does(jobs), code, says)
    await jobs.close()
    expect(query(path, 'SELECT state, attempts FROM treadle_jobs')).toEqual([{ state: 0, attempts: 0 }])
  })

  test('no job is defined at all', async () => {
    const jobs = treadle(`sqlite:${path}`)
    await expectRefusal(() => jobs.work(), 'CONFIG_INVALID', /Call define\(\) first/)
    await jobs.close()
  })
})

describe('a job that has no handler here', () => {
  test('J30: waits for a worker that has one, and the others run', async () => {
    const producer = treadle(`sqlite:${path}`)
    await producer.declare('elsewhere').dispatch('kept')
    await producer.declare('count').dispatch(1)
    await producer.close()
    const jobs = treadle(`sqlite:${path}`)
    jobs.define('count', () => {})
    expect(await jobs.run()).toMatchObject({ succeeded: 1, dead: 0, retried: 0 })
    await jobs.close()
    expect(query(path, 'SELECT state, attempts FROM treadle_jobs WHERE payload = \'"kept"\'')).toEqual([
      { state: 0, attempts: 0 },
    ])
  })
})

describe('a file that is no sound database is one clear error, and stays as it is', () => {
  test('random bytes', async () => {
    writeFileSync(path, Buffer.from('this is not a database. '.repeat(500)))
    await expectUntouched('DATABASE_CORRUPT', /not a sound SQLite database.*backup/)
  })

  test('a database that was cut short', async () => {
    await made(2_000)
    const copy = folder.file('copy.db')
    execute(path, `VACUUM INTO '${copy}'`)
    path = copy
    truncateSync(path, 100_000)
    await expectUntouched('DATABASE_CORRUPT', /not a sound SQLite database.*backup/)
  })

  test('a database with a page of nonsense in the middle', async () => {
    await made(2_000)
    const copy = folder.file('copy.db')
    execute(path, `VACUUM INTO '${copy}'`)
    path = copy
    const bytes = readFileSync(path)
    bytes.fill(0xa5, 4_096, bytes.length)
    writeFileSync(path, bytes)
    const jobs = treadle(`sqlite:${path}`)
    await expectRefusal(() => jobs.declare('count').dispatch(1), 'DATABASE_CORRUPT', /not a sound SQLite database.*backup/)
    await jobs.close()
  })

  test('a folder', async () => {
    mkdirSync(path)
    writeFileSync(`${path}/note.txt`, 'kept')
    await expectRefusal(() => opened(`sqlite:${path}`), 'DATABASE_UNWRITABLE', /can not be opened.*folder exists/)
    expect(readdirSync(path)).toEqual(['note.txt'])
  })

  test('opening it again and again keeps no file open', async () => {
    writeFileSync(path, Buffer.from('this is not a database. '.repeat(500)))
    for (let attempt = 0; attempt < 20; attempt++) await refusalOf(() => opened(`sqlite:${path}`))
    const target = path
    expect(openFiles().filter((name) => name === target)).toEqual([])
  })

  async function expectUntouched(code: ErrorCode, says: RegExp): Promise<void> {
    const before = readFileSync(path)
    await expectRefusal(() => opened(`sqlite:${path}`), code, says)
    expect(readFileSync(path).equals(before)).toBe(true)
  }

  async function made(count: number): Promise<void> {
    const jobs = treadle(`sqlite:${path}`)
    await jobs.declare('count').dispatchMany(Array.from({ length: count }, (_, number) => ({ number })))
    await jobs.close()
  }
})

describe('a place that can not be written to is one clear error', () => {
  test.each([
    { what: 'a folder that does not exist', below: 'missing/jobs.db' },
    { what: 'a path below a file', below: 'note.txt/jobs.db' },
  ])('$what', async ({ below }) => {
    writeFileSync(folder.file('note.txt'), 'kept')
    await expectRefusal(() => opened(`sqlite:${folder.file(below)}`), 'DATABASE_UNWRITABLE', /Check that its folder exists/)
    expect(readdirSync(folder.path)).toEqual(['note.txt'])
  })

  test.runIf(process.platform === 'linux')('a folder that belongs to the system alone', async () => {
    await expectRefusal(() => opened('sqlite:/proc/treadle-jobs.db'), 'DATABASE_UNWRITABLE', /Check that its folder exists/)
  })

  // Root may do everything, so these run in a program that is not root.
  test.runIf(process.platform !== 'win32').each(['folder', 'file'])('a read-only %s', async (kind) => {
    mkdirSync(folder.file('shared'))
    mkdirSync(folder.file('scratch'), { mode: 0o777 })
    path = folder.file('shared/jobs.db')
    const made = treadle(`sqlite:${path}`)
    await made.declare('count').dispatch('kept')
    await made.close()
    const copy = folder.file('shared/copy.db')
    execute(path, `VACUUM INTO '${copy}'`)
    writeFileSync(`${copy}.key`, readFileSync(`${path}.key`), { mode: 0o644 })
    chmodSync(copy, kind === 'file' ? 0o444 : 0o666)
    chmodSync(folder.file('shared'), kind === 'folder' ? 0o555 : 0o777)
    chmodSync(folder.path, 0o755)

    const program = startProgram('without-rights', { scratch: folder.file('scratch/jobs.db'), path: copy })
    const refused = JSON.parse((await program.line('refused')).slice('refused '.length)) as TreadleError
    expect(refused).toMatchObject({ name: 'TreadleError', code: 'DATABASE_UNWRITABLE' })
    expect(refused.message).toMatch(/may be written to/)
    await program.success()
    expect(query(copy, 'SELECT payload FROM treadle_jobs')).toEqual([{ payload: '"kept"' }])
    expect(faultsOf(copy)).toEqual([])
  })
})

describe('a key file that is none is one clear error', () => {
  test.each([
    { what: 'empty', text: '', says: /at least one/ },
    { what: 'one word', text: 'onlyone\n', says: /an id and a secret/ },
    { what: 'a secret that is too short', text: 'k-1 short\n', says: /16/ },
  ])('$what', async ({ text, says }) => {
    writeFileSync(`${path}.key`, text)
    await expectRefusal(() => opened(`sqlite:${path}`), 'KEY_INVALID', says)
    expect(readFileSync(`${path}.key`, 'utf8')).toBe(text)
  })
})

describe('a config file that is none is one clear error, and nothing is opened', () => {
  test.each([
    {
      what: 'throws',
      text: "throw new Error('no such host')",
      code: 'CONFIG_LOAD_FAILED',
      says: /treadle\.config\.mjs:1: no such host/,
    },
    { what: 'can not be parsed', text: 'export default {', code: 'CONFIG_LOAD_FAILED', says: /treadle\.config\.mjs/ },
    { what: 'imports what is not there', text: "import 'not-installed'", code: 'CONFIG_LOAD_FAILED', says: /not-installed/ },
    {
      what: 'has no default export',
      text: 'export const url = 5',
      code: 'CONFIG_INVALID',
      says: /Write: export default defineConfig/,
    },
    {
      what: 'has options that nobody knows',
      text: "export default { ulr: 'sqlite:x.db' }",
      code: 'CONFIG_INVALID',
      says: /"ulr", did you mean "url"/,
    },
    { what: 'has a URL that is a number', text: 'export default { url: 5 }', code: 'CONFIG_INVALID', says: /url must be a text/ },
  ])('it $what', async ({ text, code, says }) => {
    writeFileSync(folder.file('treadle.config.mjs'), text)
    const program = startProgram('default-instance', {}, { cwd: folder.path })
    const refused = JSON.parse((await program.line('refused')).slice('refused '.length)) as TreadleError
    expect(refused).toMatchObject({ name: 'TreadleError', code })
    expect(refused.message).toMatch(says)
    await program.success()
    expect(readdirSync(folder.path)).toEqual(['treadle.config.mjs'])
  })
})

/** What this process has open, as far as the system tells. */
function openFiles(): readonly string[] {
  if (!existsSync('/proc/self/fd')) return []
  return readdirSync('/proc/self/fd').map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      return ''
    }
  })
}

async function opened(url: string, options: TreadleOptions = {}): Promise<void> {
  const jobs = treadle(url, options)
  try {
    await jobs.open()
  } finally {
    await jobs.close()
  }
}

async function expectRefusal(act: () => Promise<unknown>, code: ErrorCode, says: RegExp): Promise<void> {
  const error = await refusalOf(act)
  expect(error, error.stack).toBeInstanceOf(TreadleError)
  expect(error.code, error.message).toBe(code)
  expect(error.message).toMatch(says)
}

async function refusalOf(act: () => Promise<unknown>): Promise<TreadleError> {
  try {
    await act()
  } catch (thrown) {
    return thrown as TreadleError
  }
  throw new Error('It was not refused')
}
