import { Writable } from 'node:stream'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import winston from 'winston'
import { shell } from '../../src/handlers/index.ts'
import { world } from '../world.ts'

describe('what a job logs', () => {
  test('is stored with its attempt, message and fields, and goes to the logger of the program', async () => {
    const { jobs, clock, log } = world()
    const mail = jobs.define('mail', async (_, ctx) => {
      ctx.log('begins')
      ctx.logger.warn({ to: 'ada' }, 'is slow')
      ctx.logger.info('sent', { bytes: 12 })
      if (ctx.attempt === 1) throw new Error('no luck')
    })
    const run = await mail.retries(1).dispatch()
    await jobs.run()
    await clock.advance(3_600_000)
    await jobs.run()
    const { lines, dropped, last } = await jobs.logs(run.id)
    expect([dropped, last]).toEqual([0, 6])
    expect(lines.map(({ line, attempt, level, message }) => [line, attempt, level, message])).toEqual([
      [1, 1, 'info', 'begins'],
      [2, 1, 'warn', 'is slow'],
      [3, 1, 'info', 'sent'],
      [4, 2, 'info', 'begins'],
      [5, 2, 'warn', 'is slow'],
      [6, 2, 'info', 'sent'],
    ])
    expect(lines.map(({ fields }) => fields)).toEqual([
      undefined,
      { to: 'ada' },
      { bytes: 12 },
      undefined,
      { to: 'ada' },
      { bytes: 12 },
    ])
    expect(log).toContain(`warn [mail ${run.id}] is slow`)
    expect((await jobs.logs(run.id, { after: 4 })).lines).toHaveLength(2)
  })

  test('has the fields of the child that said it', async () => {
    const { jobs } = world()
    const run = await jobs
      .define('mail', (_, { logger }) => logger.child({ tenant: 7 }).child({ part: 'a' }).error(new TypeError('broken')))
      .dispatch()
    await jobs.run()
    const { lines } = await jobs.logs(run.id)
    expect(lines).toMatchObject([
      { level: 'error', message: 'broken', fields: { tenant: 7, part: 'a', err: { name: 'TypeError', message: 'broken' } } },
    ])
  })

  test('has no passwords, and whatever cannot be JSON is shown', async () => {
    const { jobs } = world()
    const circle: Record<string, unknown> = { big: 7n }
    circle.self = circle
    const run = await jobs
      .define('mail', (_, { log }) => {
        log('connects to postgres://ada:hidden@db/app', { password: 'hidden', url: 'mysql://u:hidden@h/x' })
        log(circle, 'goes round')
      })
      .dispatch()
    await jobs.run()
    const { lines } = await jobs.logs(run.id)
    expect(JSON.stringify(lines)).not.toContain('hidden')
    expect(lines[1]).toMatchObject({ message: 'goes round', fields: { big: '7' } })
  })

  test('is seen while the job runs', async () => {
    const { jobs } = world()
    let go = () => {}
    const waits = new Promise<void>((resolve) => {
      go = resolve
    })
    const started = new Promise<void>((resolve) => jobs.on('job:started', () => resolve()))
    const run = await jobs
      .define('slow', async (_, { log }) => {
        log('half way')
        await waits
      })
      .dispatch()
    const working = jobs.run()
    await started
    await expect
      .poll(async () => (await jobs.logs(run.id)).lines.map(({ message }) => message), { timeout: 60_000 })
      .toEqual(['half way'])
    go()
    await working
  })

  test('is bounded: the newest lines are kept, and how many were dropped is told', async () => {
    const { jobs } = world({ logs: { lines: 40 } })
    const run = await jobs
      .define('chatty', (_, { log }) => {
        for (let n = 1; n <= 1_000; n++) log(`line ${n}`)
      })
      .dispatch()
    await jobs.run()
    const { lines, dropped } = await jobs.logs(run.id)
    expect(lines.length).toBe(40)
    expect(lines.at(-1)).toMatchObject({ line: 1_000, message: 'line 1000' })
    expect(dropped).toBe(960)
  })

  test('is bounded in bytes too', async () => {
    const { jobs } = world({ logs: { bytes: '4kb' } })
    const run = await jobs
      .define('chatty', (_, { log }) => {
        for (let n = 1; n <= 100; n++) log('é'.repeat(100))
      })
      .dispatch()
    await jobs.run()
    const { lines } = await jobs.logs(run.id)
    expect(lines.length).toBeGreaterThan(5)
    expect(Buffer.byteLength(JSON.stringify(lines.map(({ message }) => message)))).toBeLessThan(4_096)
  })

  test('is left out below the level, and altogether where nobody wants it', async () => {
    const { jobs, other } = world()
    const speaks = (
      _: unknown,
      { logger }: { readonly logger: { debug(message: string): void; info(message: string): void } },
    ) => {
      logger.debug('small')
      logger.info('large')
    }
    const usual = await jobs.define('speaks', speaks).dispatch()
    await jobs.run()
    expect((await jobs.logs(usual.id)).lines.map(({ message }) => message)).toEqual(['large'])
    const detailed = other({ logs: { level: 'debug' } }).jobs
    const all = await detailed.define('speaks', speaks).dispatch()
    await detailed.run()
    expect((await detailed.logs(all.id)).lines.map(({ message }) => message)).toEqual(['small', 'large'])
    const silent = other({ logs: false }).jobs
    const none = await silent.define('speaks', speaks).dispatch()
    await silent.run()
    expect((await silent.logs(none.id)).lines).toEqual([])
  })

  test('is encrypted where the payload of the job is', async () => {
    const { jobs, backend, other } = world({ signingKey: 'a'.repeat(40) })
    const run = await jobs
      .define('secret', (_, { log }) => log('about ada'))
      .encrypt()
      .dispatch({ of: 'ada' })
    await jobs.run()
    const stored = await backend.store.logs?.read(run.id, 0, 10)
    expect(JSON.stringify(stored)).not.toContain('about ada')
    expect((await jobs.logs(run.id)).lines).toMatchObject([{ message: 'about ada' }])
    expect((await other({ unsigned: true }).jobs.logs(run.id)).lines).toMatchObject([{ message: '1 line: encrypted (default)' }])
  })

  test('never fails the job, whatever it is given', async () => {
    const { jobs } = world()
    const throwing = () => {
      throw new Error('no')
    }
    const traps = new Proxy({}, { get: throwing, ownKeys: throwing, getPrototypeOf: throwing })
    const { proxy: revoked, revoke } = Proxy.revocable({}, {})
    revoke()
    const broken = Object.defineProperty(new Error('x'), 'message', { get: throwing })
    const odd: readonly object[] = [
      traps,
      revoked,
      broken,
      {
        get field() {
          return throwing()
        },
      },
      { toString: throwing },
    ]
    const run = await jobs
      .define('mail', (_, { log, logger }) => {
        for (const each of odd) {
          log(each)
          log('with fields', each as Record<string, unknown>)
          log(each, each as never)
          logger.child(each as Record<string, unknown>).info('of a child')
        }
        return 'done'
      })
      .dispatch()
    await jobs.run()
    expect(await run.result()).toBe('done')
    const { lines } = await jobs.logs(run.id)
    expect(lines).toHaveLength(4 * odd.length)
    expect(lines.filter(({ message }) => message === 'with fields')).toHaveLength(odd.length)
  })

  test('that somebody has changed in the database is said to be unreadable', async () => {
    const { jobs, backend } = world()
    const run = await jobs.define('mail', (_, { log }) => log('sent')).dispatch()
    await jobs.run()
    const forged = [[1e300, 'info', 'no time'], [1, 'loud', 'no level'], [1, 'info', 7], null].map((line) =>
      JSON.stringify([line]),
    )
    for (const text of [...forged, '{}', '[']) {
      await backend.store.logs?.append([{ id: run.id, attempt: 1, lines: 1, dropped: 0, text }], { lines: 100, bytes: 10_000 })
    }
    const { lines } = await jobs.logs(run.id)
    expect(lines.map(({ message }) => message)).toEqual(['sent', ...Array.from({ length: 6 }, () => '1 line: cannot be read')])
    for (const { at } of lines) expect(() => new Date(at).toISOString()).not.toThrow()
  })

  test('is gone with the job', async () => {
    const { jobs, clock } = world({ keep: { succeeded: '1h' } })
    const run = await jobs.define('mail', (_, { log }) => log('sent')).dispatch()
    await jobs.run()
    expect((await jobs.logs(run.id)).lines).toHaveLength(1)
    await clock.advance(2 * 3_600_000)
    await jobs.prune()
    expect((await jobs.logs(run.id)).lines).toEqual([])
  })

  test('that could not be stored fails no job, and is told', async () => {
    const { jobs, backend, log, record } = world()
    Object.assign(backend.store.logs as object, { append: () => Promise.reject(new Error('the disk is full')) })
    const run = await jobs.define('mail', (_, ctx) => ctx.log('sent')).dispatch()
    await jobs.run()
    expect((await record(run)).state).toBe('succeeded')
    expect(log).toContain('warn what jobs have logged could not be stored: the disk is full')
  })

  test('comes from the program that it runs, line by line', async () => {
    const { jobs } = world({ allow: { default: ['prints'] } })
    const run = await jobs.define('prints', shell(['sh', '-c', 'echo one; echo two >&2; printf three'])).dispatch()
    await jobs.run()
    const said = (await jobs.logs(run.id)).lines.map(({ level, message }) => `${level} ${message}`)
    expect(said.toSorted()).toEqual(['stderr two', 'stdout one', 'stdout three'])
  })
})

describe('a real logger', () => {
  test('pino gets fields as fields, with the job in each line', async () => {
    const written: Record<string, unknown>[] = []
    const sink = new Writable({
      write(chunk, _, done) {
        written.push(JSON.parse(String(chunk)))
        done()
      },
    })
    const { jobs } = world({ logger: pino({ level: 'debug' }, sink) })
    const run = await jobs
      .define('mail', (_, { logger }) => logger.child({ tenant: 7 }).warn({ to: 'ada' }, 'is slow'))
      .dispatch()
    await jobs.run()
    expect(written.find(({ msg }) => msg === 'is slow')).toMatchObject({
      job: 'mail',
      jobId: run.id,
      tenant: 7,
      to: 'ada',
      level: 40,
    })
  })

  test('winston gets them as metadata', async () => {
    const written: Record<string, unknown>[] = []
    const sink = new Writable({
      objectMode: true,
      write(info, _, done) {
        written.push(info)
        done()
      },
    })
    const logger = winston.createLogger({ level: 'debug', transports: [new winston.transports.Stream({ stream: sink })] })
    const { jobs } = world({ logger })
    const mail = jobs.define('mail', (_, { logger }) => {
      logger.warn({ to: 'ada' }, 'is slow')
      logger.child({ host: 'mx' }).error(new RangeError('no room for token=hunter2'), 'refused')
    })
    const run = await mail.dispatch()
    await jobs.run()
    const job = { job: 'mail', jobId: run.id }
    expect(written.find(({ message }) => message === 'is slow')).toMatchObject({ ...job, to: 'ada', level: 'warn' })
    const refused = JSON.parse(JSON.stringify(written.find(({ message }) => message === 'refused')))
    const err = {
      name: 'RangeError',
      message: expect.stringContaining('no room for'),
      stack: expect.stringContaining('job-logs.test.ts'),
    }
    expect(refused).toMatchObject({ ...job, host: 'mx', level: 'error', err })
    expect(JSON.stringify(refused)).not.toContain('hunter2')
  })

  test('gets no passwords in fields, and errors as errors; what has none is passed on as it is', async () => {
    const seen: unknown[] = []
    const logger = { debug() {}, info: (_: string, fields?: unknown) => void seen.push(fields), warn() {}, error() {} }
    const { jobs } = world({ logger })
    const refused = new RangeError('postgres://me:hunter2@host/db refused', { cause: new Error('token=hunter2') })
    const address = new URL('http://host/')
    const sound = { list: [1, { deep: 'x' }], address }
    await jobs
      .define('mail', (_, ctx) => {
        ctx.logger.info('fields', { password: 'hunter2', nested: [{ url: 'redis://me:hunter2@host' }], address })
        ctx.logger.info(refused, 'could not connect')
        ctx.logger.info('sound', { sound })
      })
      .dispatch()
    await jobs.run()
    const [fields, failed, untouched] = seen as [Record<string, unknown>, { err: Error }, { sound: unknown }]
    expect(fields).toMatchObject({ password: '***', nested: [{ url: 'redis://me:***@host' }] })
    expect(fields.address).toBe(address)
    expect(failed.err).toBeInstanceOf(RangeError)
    expect([failed.err.message, (failed.err.cause as Error).message]).toEqual(['postgres://me:***@host/db refused', 'token=***'])
    expect(failed.err.stack).not.toContain('hunter2')
    expect(refused.message).toContain('hunter2')
    expect(untouched.sound).toBe(sound)
  })
})
