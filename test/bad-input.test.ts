import { readdirSync } from 'node:fs'
import { type ErrorCode, type Treadle, type TreadleOptions, treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { expectRefusal, opened, refusalOf } from './bad-input/refusal.ts'
import { faultsOf, query, scratchFolder } from './processes/database.ts'

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
afterEach(() => folder.remove())

/** Declares a test: what is given, the code of the error, what its message must say, and the call. */
type Refuses<Given> = (what: string, code: ErrorCode, says: RegExp, given: Given) => void
type Call = (jobs: Treadle) => unknown

describe('a bad dispatch is one clear error, and stores nothing', () => {
  const refuses: Refuses<Call> = (what, code, says, call) => {
    test(what, async () => {
      const jobs = await withOneJob()
      await expectRefusal(async () => call(jobs), code, says)
      await jobs.close()
      expectOneJob()
    })
  }

  refuses('an unknown option', 'CONFIG_INVALID', /unknown option "prioriti", did you mean "priority"/, (jobs) =>
    jobs.dispatch('count', 1, { prioriti: 5 } as Anything),
  )
  refuses('several wrong options', 'CONFIG_INVALID', /queue.*retries.*unique/, (jobs) =>
    jobs.dispatch('count', 1, { queue: 'a b', maxRetries: -1, unique: '' }),
  )
  refuses('both delay and at', 'CONFIG_INVALID', /either delay or at/, (jobs) =>
    jobs.dispatch('count', 1, { delay: '1s', at: new Date() }),
  )
  refuses('a delay that is no duration', 'DURATION_INVALID', /delay must be .*'30s'.*got 'soon'/, (jobs) =>
    jobs.dispatch('count', 1, { delay: 'soon' }),
  )
  refuses('a delay that leads beyond all dates', 'DURATION_INVALID', /delay must be at most 3652500d/, (jobs) =>
    jobs.dispatch('count', 1, { delay: '99999999d' }),
  )
  refuses('a duration in place of the options of a job', 'CONFIG_INVALID', /options must be an object.*got '5s'/, (jobs) =>
    jobs.define('x', () => {}).dispatch({}, '5s' as Anything),
  )
  refuses('a circle of long names', 'PAYLOAD_NOT_JSON', /"(self\.){8}.{0,5}….{1,20}" is circular/, (jobs) =>
    jobs.dispatch('count', circle),
  )
  refuses('a negative delay', 'DURATION_INVALID', /delay must be/, (jobs) => jobs.dispatch('count', 1, -5))
  refuses('an instant that is none', 'INSTANT_INVALID', /at must be/, (jobs) => jobs.dispatch('count', 1, { at: 'tomorrow' }))
  refuses('a priority that is none', 'CONFIG_INVALID', /priority/, (jobs) =>
    jobs.dispatch('count', 1, { priority: 'urgent' as Anything }),
  )
  refuses('a queue name that is too long', 'CONFIG_INVALID', /1 to 64/, (jobs) =>
    jobs.dispatch('count', 1, { queue: 'q'.repeat(65) }),
  )
  refuses('a unique key that is too long', 'CONFIG_INVALID', /1 to 512.*513/, (jobs) =>
    jobs.dispatch('count', 1, { unique: 'k'.repeat(513) }),
  )
  refuses('a unique key that is a number', 'CONFIG_INVALID', /unique must be a string/, (jobs) =>
    jobs.dispatch('count', 1, { unique: 5 as Anything }),
  )
  refuses('meta that is not JSON', 'CONFIG_INVALID', /meta is not JSON: "when" is a bigint/, (jobs) =>
    jobs.dispatch('count', 1, { meta: { when: 1n } as Anything }),
  )
  refuses('a timeout of nothing', 'CONFIG_INVALID', /timeout must be more than 0/, (jobs) =>
    jobs.dispatch('count', 1, { timeout: 0 }),
  )
  refuses('a function in the payload', 'PAYLOAD_NOT_JSON', /"mail.send" is a function/, (jobs) =>
    jobs.dispatch('count', { mail: { send: () => {} } }),
  )
  refuses('a BigInt', 'PAYLOAD_NOT_JSON', /"list\[1\]" is a bigint/, (jobs) => jobs.dispatch('count', { list: [1, 2n] }))
  refuses('a symbol', 'PAYLOAD_NOT_JSON', /it is a symbol/, (jobs) => jobs.dispatch('count', Symbol('x')))
  refuses('a cycle', 'PAYLOAD_NOT_JSON', /circular/, (jobs) => jobs.dispatch('count', circle))
  refuses('undefined at the root', 'PAYLOAD_NOT_JSON', /it is undefined/, (jobs) => jobs.dispatch('count', undefined))
  refuses('NaN', 'PAYLOAD_NOT_JSON', /"ratio" is NaN/, (jobs) => jobs.dispatch('count', { ratio: 0 / 0 }))
  refuses('a Map', 'PAYLOAD_NOT_JSON', /"seen" is a Map/, (jobs) => jobs.dispatch('count', { seen: new Map() }))
  refuses('a Date that is none', 'PAYLOAD_NOT_JSON', /"at" is an invalid Date/, (jobs) =>
    jobs.dispatch('count', { at: new Date('x') }),
  )
  refuses('a payload that is too large', 'PAYLOAD_TOO_LARGE', /1048578 bytes.*Store it elsewhere/, (jobs) =>
    jobs.dispatch('count', 'x'.repeat(1024 * 1024)),
  )
  refuses('a payload that does not fit the schema', 'PAYLOAD_INVALID', /payload of "mail".*to:/, (jobs) =>
    jobs.dispatch('mail', { to: 5 }),
  )
  refuses('a job that nobody defined', 'JOB_UNKNOWN', /"coutn".*Defined here: .*count/, (jobs) => jobs.dispatch('coutn', 1))
  refuses('no job at all', 'JOB_UNKNOWN', /job/, (jobs) => jobs.dispatch(undefined as Anything, 1 as Anything))
  refuses('one bad payload among thousands', 'PAYLOAD_NOT_JSON', /bigint/, (jobs) =>
    jobs.dispatchMany('count', [...new Array(2_500).fill(1), 2n]),
  )
  refuses('one bad key among thousands', 'CONFIG_INVALID', /unique must be a string/, (jobs) =>
    jobs.dispatchMany('keyed', [...new Array(2_500).fill(0).map((_, key) => `${key}`), '']),
  )
  refuses('payloads that are no list', 'CONFIG_INVALID', /list/, (jobs) => jobs.dispatchMany('count', 'many' as Anything))

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
  const refuses: Refuses<Call> = (what, code, says, call) => {
    test(what, async () => {
      const jobs = treadle(`sqlite:${path}`)
      await expectRefusal(async () => call(jobs), code, says)
      await jobs.close()
      expect(readdirSync(folder.path)).toEqual([])
    })
  }

  refuses('a name that is too long', 'DEFINITION_INVALID', /at most 191 characters, got 192/, (jobs) =>
    jobs.define('j'.repeat(192), () => {}).toDefinition(),
  )
  refuses('an empty name', 'DEFINITION_INVALID', /not empty/, (jobs) => jobs.define('', () => {}).toDefinition())
  refuses('a name that is a number', 'DEFINITION_INVALID', /must be a string/, (jobs) =>
    jobs.define(5 as Anything, () => {}).toDefinition(),
  )
  refuses('a line feed in a name', 'DEFINITION_INVALID', /control characters/, (jobs) =>
    jobs.define('a\nb', () => {}).toDefinition(),
  )
  refuses('a bad name, once', 'DEFINITION_INVALID', /^Job "": a job name must be a string that is not empty, got ''$/, (jobs) =>
    jobs.define('', () => {}).toDefinition(),
  )
  refuses('a generator for a handler', 'HANDLER_INVALID', /"x" must be .* got a generator function/, (jobs) =>
    jobs.define('x', function* () {} as Anything),
  )
  refuses('an asynchronous generator in a class', 'HANDLER_INVALID', /generator function/, (jobs) =>
    jobs.define(
      'x',
      class {
        async *handle() {}
      } as Anything,
    ),
  )
  for (const word of ['when', 'skip', 'before', 'onSuccess', 'onError', 'finally', 'retryIf'] as const) {
    refuses(
      `${word} without a function`,
      'DEFINITION_INVALID',
      new RegExp(`${word} must be given a function, got 'yes'`),
      (jobs) => jobs.define('x', () => {})[word]('yes' as Anything),
    )
  }
  refuses('an event that does not exist', 'CONFIG_INVALID', /no event 'job:succeded' .*did you mean "job:succeeded"/, (jobs) =>
    jobs.on('job:succeded' as Anything, () => {}),
  )
  refuses('a listener that is no function', 'CONFIG_INVALID', /listener of "job:dead" must be a function/, (jobs) =>
    jobs.on('job:dead', undefined as Anything),
  )
  refuses('no handler', 'HANDLER_INVALID', /handler of "x" must be a function, or a class/, (jobs) =>
    jobs.define('x', undefined as Anything),
  )
  refuses('a class without handle', 'HANDLER_INVALID', /class Mail without a "handle" method/, (jobs) =>
    jobs.define('x', class Mail {} as Anything),
  )
  refuses('schemas without a handler', 'HANDLER_INVALID', /must be a function/, (jobs) =>
    jobs.define('x', { input: z.string() } as Anything),
  )
  refuses('a schema that is none', 'DEFINITION_INVALID', /Standard Schema/, (jobs) =>
    jobs.define('x', { input: { type: 'string' } } as Anything, (() => {}) as Anything),
  )
  refuses('options in the place of schemas', 'DEFINITION_INVALID', /"retries" is no schema.*methods.*retries\(/, (jobs) =>
    jobs.define('x', { retries: 3 } as Anything, (() => {}) as Anything),
  )
  refuses('options after the handler', 'DEFINITION_INVALID', /methods.*retries\(/, (jobs) =>
    jobs.define('x', (() => {}) as Anything, { retries: 3 } as Anything),
  )
  refuses('the same name twice', 'JOB_DUPLICATE', /"x" is defined twice/, (jobs) => [
    jobs.define('x', () => {}),
    jobs.define('x', () => {}),
  ])
  refuses('a bad cron expression', 'SCHEDULE_INVALID', /61/, (jobs) => jobs.define('x', () => {}).cron('61 * * * *'))
  refuses('a time zone that does not exist', 'SCHEDULE_INVALID', /Mars\/Olympus/, (jobs) =>
    jobs
      .define('x', () => {})
      .daily()
      .timezone('Mars/Olympus')
      .toDefinition(),
  )
  refuses('a timeout that is no duration', 'DURATION_INVALID', /timeout must be/, (jobs) =>
    jobs.define('x', () => {}).timeout('fast'),
  )
  refuses('retries that are no number', 'DEFINITION_INVALID', /whole number of at least 0, got '3'/, (jobs) =>
    jobs
      .define('x', () => {})
      .retries('3' as Anything)
      .toDefinition(),
  )
  refuses('an outcome to keep that does not exist', 'DEFINITION_INVALID', /failed/, (jobs) =>
    jobs
      .define('x', () => {})
      .keep({ failed: '1d' } as Anything)
      .toDefinition(),
  )
})

describe('bad options are one clear error, and no file is made', () => {
  const refuses: Refuses<object | null> = (what, code, says, options) => {
    test(what, async () => {
      await expectRefusal(() => opened(`sqlite:${path}`, options as TreadleOptions), code, says)
      expect(readdirSync(folder.path)).toEqual([])
    })
  }

  refuses('an unknown option', 'CONFIG_INVALID', /"signingkey", did you mean "signingKey"/, { signingkey: 'x' })
  refuses('several at once', 'CONFIG_INVALID', /nonsense.*keep\.dead.*allow.*maxPayloadBytes/, {
    keep: { dead: 'long' },
    allow: 5,
    maxPayloadBytes: 0,
    nonsense: 1,
  })
  refuses('a signing key that is too short', 'KEY_INVALID', /16/, { signingKey: 'short' })
  refuses('a signing key that is a number', 'CONFIG_INVALID', /signingKey/, { signingKey: 5 })
  refuses('a signing key and none', 'CONFIG_INVALID', /either signingKey or unsigned/, {
    signingKey: 'x'.repeat(32),
    unsigned: true,
  })
  refuses('an empty list of keys', 'KEY_INVALID', /at least one/, { signingKey: [] })
  refuses('unsigned as a text', 'CONFIG_INVALID', /unsigned must be true, false or 'accept'/, { unsigned: 'false' })
  refuses('migrate as a text', 'CONFIG_INVALID', /migrate must be true or false/, { migrate: 'no' })
  refuses('a logger without methods', 'CONFIG_INVALID', /logger/, { logger: {} })
  refuses('a clock without methods', 'CONFIG_INVALID', /clock/, { clock: Date })
  refuses('null in place of options', 'CONFIG_INVALID', /options/, null)

  const refusesUrl: Refuses<unknown> = (what, code, says, url) => {
    test(`a URL: ${what}`, async () => {
      await expectRefusal(() => opened(url as string), code, says)
    })
  }

  refusesUrl('a scheme that nobody knows', 'BACKEND_UNKNOWN', /Known: sqlite:FILE/, 'mongodb://localhost/x')
  refusesUrl('no scheme', 'BACKEND_UNKNOWN', /Known: sqlite:FILE/, 'jobs.db')
  refusesUrl('no file', 'BACKEND_UNKNOWN', /Write sqlite:jobs\.db/, 'sqlite:')
  refusesUrl("SQLite's own way to say memory", 'BACKEND_UNKNOWN', /memory:/, 'sqlite::memory:')
  refusesUrl('a number', 'BACKEND_UNKNOWN', /sqlite:/, 5)

  test('a password in a URL stays out of the message', async () => {
    const error = await refusalOf(() => opened('mongodb://ada:secret@localhost/x'))
    expect(error.message).not.toContain('secret')
  })
})

describe('bad options of a worker are one clear error, and no job is touched', () => {
  const refuses: Refuses<Call> = (what, code, says, call) => {
    test(what, async () => {
      const jobs = treadle(`sqlite:${path}`)
      jobs.define('count', () => {})
      await jobs.dispatch('count', 'kept')
      await expectRefusal(async () => call(jobs), code, says)
      await jobs.close()
      expect(query(path, 'SELECT state, attempts FROM treadle_jobs')).toEqual([{ state: 0, attempts: 0 }])
    })
  }

  refuses('an unknown option', 'CONFIG_INVALID', /"concurency", did you mean "concurrency"/, (jobs) =>
    jobs.work({ concurency: 5 } as Anything),
  )
  refuses('several at once', 'CONFIG_INVALID', /concurrency.*lease.*queues/, (jobs) =>
    jobs.work({ concurrency: 0, lease: '10ms', queues: [] }),
  )
  refuses('a concurrency that is a text', 'CONFIG_INVALID', /concurrency must be a whole number/, (jobs) =>
    jobs.run({ concurrency: '5' as Anything }),
  )
  refuses('a poll that is no duration', 'CONFIG_INVALID', /poll must be/, (jobs) => jobs.work({ poll: 'often' }))
  refuses('a queue that is no list', 'CONFIG_INVALID', /queues must be a list/, (jobs) =>
    jobs.work({ queues: 'mail' as Anything }),
  )
  refuses('a job that is not defined', 'JOB_UNKNOWN', /coutn/, (jobs) => jobs.work({ jobs: ['coutn'] }))
  refuses('a limit of nothing', 'CONFIG_INVALID', /limit must be/, (jobs) => jobs.run({ limit: 0 }))
  refuses('a scheduler that is a text', 'CONFIG_INVALID', /scheduler must be true, false or 'single'/, (jobs) =>
    jobs.work({ scheduler: 'no' as Anything }),
  )
  refuses('signals that are a number', 'CONFIG_INVALID', /signals must be true or false/, (jobs) =>
    jobs.work({ signals: 0 as Anything }),
  )
  refuses('a signal that is none', 'CONFIG_INVALID', /signal must be an AbortSignal/, (jobs) =>
    jobs.work({ signal: {} as Anything }),
  )
  refuses('null in place of options', 'CONFIG_INVALID', /options/, (jobs) => jobs.work(null as Anything))

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
