import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { configProblems } from '../../src/app/config/config.ts'
import { type Treadle, treadle } from '../../src/app/treadle.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { openEnvelope } from '../../src/envelope/envelope.ts'
import { KeyRing } from '../../src/envelope/keys/key-ring.ts'
import { openRecord } from '../../src/execution/admit/verifying.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import { cancelOutcome } from '../../src/queue/contract/queue-counts.ts'
import type { JobRecord } from '../../src/queue/contract/store.ts'
import { JobService } from '../../src/server/jobs/job-service.ts'
import { world } from '../world.ts'
import { runScript } from './child.ts'

describe('a misspelt option', () => {
  it.each([
    ['result', (jobs: Treadle, id: string) => jobs.handle(id).result({ timout: '1s' } as never)],
    ['cancel', (jobs: Treadle, id: string) => jobs.handle(id).cancel({ trees: true } as never)],
    ['stop', (jobs: Treadle) => jobs.stop({ abrt: true } as never)],
    ['open', (jobs: Treadle) => jobs.open({ waits: true } as never)],
    ['prune', (jobs: Treadle) => jobs.prune({ older: '1d' } as never)],
  ])('of %s is refused', async (_, call) => {
    const { jobs } = world()
    const { id } = await jobs.define('job', () => {}).dispatch()
    await expect(call(jobs, id)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('unknown option'),
    })
  })

  it('of events is refused with the options that there are', async () => {
    const { jobs } = world()
    expect(() => jobs.events({ kind: 'job:dead' } as never)).toThrow(/known: types, .* signal\)/)
  })

  it('a handle needs an id', () => {
    expect(() => world().jobs.handle(undefined as never)).toThrow('handle() takes the id of a job or a workflow, got undefined')
  })
})

describe('the options of a program', () => {
  it('X21: must hold a key for a queue that others can write to, or say that there is none', async () => {
    const { backend, clock } = world()
    const shared = Object.create(backend, { kind: { value: 'broker' } }) as QueueBackend
    const jobs = treadle('memory:', { backend: shared, clock })
    const job = jobs.define('mail', async () => {})
    const refused = { code: 'KEY_INVALID', message: expect.stringContaining('needs a signing key') }
    await expect(job.dispatch()).rejects.toMatchObject(refused)
    await expect(job.dispatchMany([{}])).rejects.toMatchObject(refused)
    await expect(jobs.run()).rejects.toMatchObject(refused)
    await expect(jobs.work()).rejects.toMatchObject(refused)
    await expect(jobs.served()).rejects.toMatchObject(refused)
    expect(await treadle('memory:', { backend: shared, clock, unsigned: true }).open()).toBe(shared)
    expect(await treadle('memory:', { backend: shared, clock, signingKey: 'a secret of sixteen' }).open()).toBe(shared)
  })

  it('take no job for a forged one because they have no key', async () => {
    const { backend, clock, jobs: sender } = world({ signingKey: 'a secret of sixteen' })
    const run = await sender.declare('mail').unique('u').dispatch({})
    const shared = Object.create(backend, { kind: { value: 'broker' } }) as QueueBackend
    const jobs = treadle('memory:', { backend: shared, clock })
    const merging = jobs
      .define('mail', async (_: unknown) => {})
      .unique('u', { onConflict: 'merge' })
      .dispatch({})
    await expect(merging).rejects.toMatchObject({ code: 'KEY_INVALID' })
    const service = new JobService({ ...(await jobs.served({ looksOnly: true })), backend }, 10)
    onTestFinished(() => service.stop())
    const request = { jobs: null, queues: null, limit: 1, waitMs: 0, signals: [] }
    await expect(service.claims.take(request as never)).rejects.toMatchObject({ code: 'KEY_INVALID' })
    const record = (await backend.store.get(run.id)) as JobRecord
    const opening = openRecord(record, service.execution, (why) => new Error(why))
    await expect(opening).rejects.toMatchObject({ code: 'KEY_INVALID' })
    expect((await backend.store.get(run.id))?.state).toBe('ready')
  })

  it('need no key for a queue that is only looked at', async () => {
    const { backend, clock, jobs: sender } = world()
    const run = await sender.declare('mail').dispatch({})
    const shared = Object.create(backend, { kind: { value: 'broker' } }) as QueueBackend
    const jobs = treadle('memory:', { backend: shared, clock })
    expect((await (await jobs.store()).get(run.id))?.state).toBe('ready')
    expect(await jobs.why(run.id)).toMatchObject({ state: 'ready' })
    expect((await jobs.served({ looksOnly: true })).keys).not.toBeNull()
    await (await jobs.store()).setPaused({ queue: 'default' }, true)
    expect(cancelOutcome(await (await jobs.store()).cancel(run.id))).toBe('cancelled')
    expect(await jobs.prune()).toBe(0)
  })

  it('name the queue where it is open already, and no URL does', async () => {
    const { backend, clock } = world()
    await using jobs = treadle({ backend, clock })
    expect(await jobs.open()).toBe(backend)
    for (const wrong of [null, 5, {}, { clock }, { backend: undefined }]) {
      const refused = () => treadle(wrong as never)
      expect(refused).toThrow(
        expect.objectContaining({ code: 'BACKEND_UNKNOWN', message: expect.stringContaining('{ backend }') }),
      )
    }
  })

  it('are not taken from a variable that is not set', () => {
    const url = process.env.TREADLE_TEST_OF_AN_UNSET_VARIABLE
    expect(() => treadle(url)).toThrow(/got undefined\. Is an environment variable not set\?/)
    expect(configProblems({ url })).toEqual([
      expect.stringMatching(/^url must be a string .*Is an environment variable not set\?/),
    ])
    expect(configProblems({})).toEqual([])
  })

  it('are refused at once, with everything that is wrong with them', () => {
    const wrong = {
      keep: { succeeded: 'soon', sucseeded: '1d' },
      allow: { mail: 'send' },
      maxPayloadBytes: 0,
      signingKey: 7,
      clock: { now: () => 0 },
      logger: {},
      unsigned: true,
      loger: console,
    }
    expect(() => treadle('memory:', wrong as never)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: [
          'The options are invalid: unknown option "loger", did you mean "logger"?',
          'keep: unknown option "sucseeded", did you mean "succeeded"?',
          "keep.succeeded must be a number of milliseconds or a string such as '250ms', '30s', '5m', '1h30m', '2d', '1w', got 'soon'",
          'allow must be an object of queues, each with a list of job names',
          'maxPayloadBytes must be a whole number of at least 1, got 0',
          'signingKey must be a string, or { id, secret, queues, jobs }, or a list of those',
          'clock must have now, random and timer',
          'logger must have debug, info, warn and error (functions that do nothing silence it)',
          'give either signingKey or unsigned, not both',
        ].join('; '),
      }),
    )
  })

  it('A23: refuse a signing key that is too weak when they are given, not when the first job is', () => {
    expect(() => treadle('memory:', { signingKey: 'short' })).toThrow(expect.objectContaining({ code: 'KEY_INVALID' }))
    expect(() => treadle('memory:', { signingKey: [] })).toThrow(expect.objectContaining({ code: 'KEY_INVALID' }))
  })

  it.each([
    ['mongodb://ada:secret@localhost/jobs', 'mongodb://ada:***@localhost/jobs'],
    ['mongodb:jobs', 'mongodb:jobs'],
    ['jobs.db', 'jobs.db'],
    ['', ''],
    ['sqlite:', 'sqlite:'],
    ['sqlite::memory:', 'sqlite::memory:'],
    ['sqlite:jobs.db?mode=ro', 'sqlite:jobs.db?mode=ro'],
  ])('name a queue that nobody opens: %j is refused at the first use, without its password', async (url, shown) => {
    const jobs = treadle(url, { logger: silentLogger })
    const job = jobs.define('mail', async () => {})
    await expect(job.dispatch()).rejects.toThrow(
      expect.objectContaining({ code: 'BACKEND_UNKNOWN', message: expect.stringContaining(JSON.stringify(shown)) }),
    )
    await expect(job.dispatch()).rejects.not.toThrow('secret')
    expect(jobs.url).not.toContain('secret')
    await jobs.close()
  })

  it('name a file without parameters, and what is wrong with them is said', async () => {
    const jobs = treadle('sqlite:jobs.db?mode=ro', { logger: silentLogger })
    await expect(jobs.open()).rejects.toThrow(/has parameters .* not supported for SQLite.* sqlite:jobs\.db$/)
    await jobs.close()
  })

  it.each([['text'], ['key'], ['list']])('A23: take a signing key as a %s', async (form) => {
    const key = { id: 'k1', secret: 'correct horse battery staple' }
    const forms: Record<string, { given: string | typeof key | (typeof key)[]; id: string }> = {
      text: { given: key.secret, id: 'default' },
      key: { given: key, id: 'k1' },
      list: { given: [key], id: 'k1' },
    }
    const { given, id } = forms[form] as (typeof forms)[string]
    const { jobs, backend } = world({ signingKey: given })
    await jobs.define('mail', async () => {}).dispatch()
    const { leases } = await backend.lease(claim)
    const envelope = leases[0]?.envelope
    expect(envelope?.signature).toMatch(new RegExp(`^${id}\\.`))
    openEnvelope(envelope as never, new KeyRing([{ ...key, id }]))
  })

  it('A23: find the signing key in the environment, where the program gives none', async () => {
    const script = `
      import { treadle } from 'treadle'
      const jobs = treadle('memory:')
      await jobs.define('mail', async () => {}).dispatch({})
      const backend = await jobs.open()
      const { leases } = await backend.lease(${JSON.stringify(claim)})
      console.log(leases[0].envelope.signature)
      await jobs.close()
    `
    const secret = 'a secret of the environment'
    const { out } = await runScript(script, { env: { TREADLE_SIGNING_KEY: secret } })
    expect(out).toMatch(/^default\./)
    const without = await runScript(script)
    expect(without.out).toBe('null\n')
    const weak = await runScript(script, { env: { TREADLE_SIGNING_KEY: 'short' } })
    expect(weak.code).not.toBe(0)
    expect(weak.err).toContain('KEY_INVALID')
  })

  it('X21: sign by default where the queue is a file, and not where unsigned is asked for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'treadle-options-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const script = (options: string) => `
      import { existsSync } from 'node:fs'
      import { treadle } from 'treadle'
      const jobs = treadle('sqlite:${options === '' ? 'signed' : 'unsigned'}.db'${options})
      await jobs.define('mail', async () => {}).dispatch({})
      const { leases } = await (await jobs.open()).lease(${JSON.stringify(claim)})
      console.log(leases[0].envelope.signature === null, existsSync('signed.db.key'), existsSync('unsigned.db.key'))
      await jobs.close()
    `
    expect((await runScript(script(''), { cwd: folder })).out).toBe('false true false\n')
    expect((await runScript(script(', { unsigned: true }'), { cwd: folder })).out).toBe('true true false\n')
  })

  it('limit the size of a payload', async () => {
    const { jobs } = world({ maxPayloadBytes: 20 })
    const job = jobs.define('mail', async (_: string) => {})
    await job.dispatch('x'.repeat(18))
    await expect(job.dispatch('x'.repeat(19))).rejects.toThrow(expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }))
  })
})

const claim = { jobs: [{ job: 'mail', concurrency: null }], queues: null, limit: 1, leaseMs: 3_000, owner: 'test', maxRescues: 9 }
