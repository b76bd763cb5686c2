import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Treadle, treadle } from '../../dist/index.js'
import { type JobServer, serve } from '../../dist/server/index.js'
import { freshDatabase } from '../services.ts'

export type Engine = 'sqlite' | 'postgres'

/** What somebody would write who wants to run a script in an operator's page. */
export const evil = `<img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>\u202eevil`
export const token = 'admin-token-of-the-test'
export const readToken = 'read-token-of-the-test'
export const mailToken = 'mail-token-of-the-test'
/** JSON.parse would round it. */
export const largeNumber = '9007199254740993123'

/** All pages but those of single jobs. */
export const pages = [
  '/',
  '/?range=7d',
  '/jobs',
  '/jobs?q=state:dead',
  '/queues',
  '/queues/mail',
  '/workflows',
  '/schedules',
  '/schedules?view=day',
  '/schedules?view=week',
  '/schedules/digest',
  '/dead',
  '/workers',
  '/engine',
  '/activity',
] as const

export interface Sample extends AsyncDisposable {
  readonly jobs: Treadle
  readonly server: JobServer
  readonly origin: string
  readonly ids: Readonly<Record<'dead' | 'evil' | 'encrypted' | 'scheduled' | 'running' | 'blocked', string>>
  /** Lets the job that runs go on to its end. */
  readonly release: () => void
}

/** A queue with a bit of everything, a worker, and a server with its dashboard. */
export async function sampleOn(engine: Engine): Promise<Sample> {
  const database = engine === 'postgres' ? await freshDatabase('postgres') : null
  const url = database?.url ?? `sqlite:${join(mkdtempSync(join(tmpdir(), 'treadle-dashboard-')), 'jobs.db')}`
  const jobs = treadle(url, {
    signingKey: 'a-key-for-the-test-of-the-dashboard-only',
    environment: 'production',
    queues: { mail: { concurrency: 4 } },
  })
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const email = jobs.define('send-email', async () => ({ accepted: true })).queue('mail')
  const failing = jobs.define('charge', async (card: { readonly n: number }) => {
    throw new Error(`The card ${card.n} was declined`)
  })
  const nasty = jobs.define('nasty', async (_: unknown, ctx) => {
    await ctx.progress({ said: evil })
    ctx.log(evil, { note: evil, token: 'nobody reads this' })
    throw new Error(evil)
  })
  const long = jobs.define('long', async (_: unknown, ctx) => {
    await ctx.progress(0.62)
    await held
  })
  const after = jobs.define('after', async () => {})
  jobs
    .define('digest', async () => {})
    .dailyAt('02:30')
    .timezone('Europe/Paris')
  jobs.define('beat', async () => {}).cron('*/2 * * * * *')
  for (const n of [1, 2, 3]) await email.dispatch({ n, password: 'hunter2' })
  const dead = await failing.dispatch({ n: 777 })
  await failing.dispatch({ n: 778 })
  const bad = await nasty.dispatch({ text: evil, [evil]: 1, large: 1 }, { meta: { note: evil }, group: evil, tags: ['odd one'] })
  await jobs.dispatch('nasty', { text: evil })
  const encrypted = await email.dispatch({ secretly: 'nobody reads this' }, { encrypt: true, delay: '1h' })
  const scheduled = await email.dispatch({ n: 4 }, { delay: '1h' })
  const running = await long.dispatch({})
  const blocked = await after.dispatch({}, { dependsOn: [running] })
  const flow = await jobs.chain([email.step({ n: 5 }), after.step({})])
  void jobs.work({ signals: false, concurrency: 5 })
  await Promise.all([dead, bad].map((run) => run.result({ timeout: '60s' }).catch(() => {})))
  await flow.wait({ timeout: '60s' })
  const server = await serve(jobs, {
    port: null,
    httpPort: 0,
    token,
    readToken,
    tokens: [{ role: 'operate', secret: mailToken, queues: ['mail'] }],
  })
  const ids = {
    dead: dead.id,
    evil: bad.id,
    encrypted: encrypted.id,
    scheduled: scheduled.id,
    running: running.id,
    blocked: blocked.id,
  }
  return {
    jobs,
    server,
    origin: `http://127.0.0.1:${server.httpAddress?.port}`,
    ids,
    release,
    async [Symbol.asyncDispose]() {
      release()
      await server.stop({ graceMs: 1_000 })
      await jobs.close()
      await database?.dispose()
    },
  }
}
