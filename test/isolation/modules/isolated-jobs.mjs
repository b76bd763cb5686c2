// The jobs of a program, for the worker that dispatches them and for the isolates that run them.
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { threadId } from 'node:worker_threads'
import { PermanentError, treadle } from 'treadle'

/** Each isolated in this way. The jobs are known to isolates because this module defines them for itself as well. */
export function defineJobs(jobs, kind, options = {}) {
  const from = import.meta.url
  const define = (name, handler) => jobs.define(`${kind} ${name}`, handler).isolate(kind, { grace: '50ms', ...options, from })
  const doubles = define('doubles', (n) => n * 2)
  class Halves {
    handle(n) {
      return n / 2
    }
  }
  define('halves', Halves)
  return {
    where: define('where', () => ({ pid: process.pid, threadId })),
    spinsOnce: define('spins once', (_, { attempt }) => {
      while (attempt === 1);
      return 'the second time'
    }),
    spins: define('spins', async (_, ctx) => {
      await ctx.progress({ pid: process.pid })
      for (;;);
    }),
    heeds: define('heeds', async (_, ctx) => {
      await ctx.progress('waits')
      if (!ctx.signal.aborted) await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      const { name, code } = ctx.signal.reason
      await ctx.progress({ name, code })
      await sleep(3_600_000)
    }),
    shows: define('shows', async (payload, ctx) => {
      const { id, job, name, queue, attempt, maxAttempts, meta, occurrence, progress } = ctx
      await progress({ half: 'done' })
      ctx.logger.info('seen')
      const samePayload = JSON.stringify(ctx.payload) === JSON.stringify(payload)
      const isHeld = await ctx.heartbeat()
      return { payload, samePayload, id, job, name, queue, attempt, maxAttempts, meta, occurrence, isHeld }
    }),
    reports: define('reports', async (_, ctx) => {
      const refused = await ctx.progress(() => {}).catch((error) => ({ code: error.code, message: error.message }))
      return refused
    }),
    remains: define('remains', (_, ctx) => {
      remaining = ctx
    }),
    hearsTheLast: define('hears the last', async () => {
      remaining.logger.error('too late')
      await remaining.progress('too late')
      const refused = await remaining.dispatchChild(`${kind} doubles`, 4).catch((error) => error)
      return { isHeld: await remaining.heartbeat(), code: refused.code }
    }),
    doubles,
    sums: define('sums', async (_, ctx) => {
      const child = await ctx.dispatchChild(`${kind} doubles`, 4)
      const [only] = await ctx.children()
      return { isSame: child.id === only.id, hasMethods: typeof child.result === 'function', result: only.result }
    }),
    asksItsChild: define('asks its child', async (_, ctx) => {
      const child = await ctx.dispatchChild(doubles, 4, { delay: '1h', key: 'four' })
      const refused = await ctx.dispatchChild(doubles, 4, { delay: 'soon' }).catch((error) => error.code)
      const { id, job, created } = child
      const before = await child.state()
      return { id, job, created, before, isCancelled: await child.cancel(), after: await child.state(), refused }
    }),
    forgetsItsChild: define('forgets its child', (length, ctx) => void ctx.dispatchChild(doubles, '1'.repeat(length))),
    namesItsChild: define('names its child', async (_, ctx) => {
      const { job } = await ctx.dispatchChild(Halves, 4, { delay: '1h', key: 'half' })
      const refused = await ctx.dispatchChild(doubles.toDefinition().withQueue('other'), 4).catch((error) => error)
      return { job, code: refused.code, message: refused.message }
    }),
    looksBack: define('looks back', async (_, ctx) =>
      (await ctx.dependencies()).map(({ job, state, result }) => ({ job, state, result })),
    ),
    leavesAChild: define('leaves a child', async (_, ctx) => {
      await ctx.dispatchChild(doubles, 4, { key: 'only' })
      await ctx.progress({ pid: process.pid })
      for (;;);
    }),
    snoozes: define('snoozes', (_, ctx) => ctx.snooze('1h')),
    snoozesQuietly: define('snoozes quietly', (how, ctx) => {
      try {
        ctx.snooze('1h')
      } catch {
        if (how === 'throws') throw new Error('could not poll')
      }
    }),
    fails: define('fails', () => {
      const error = new RangeError('out of range', { cause: new Error('the disk is full') })
      throw Object.assign(error, { code: 'E_RANGE' })
    }),
    failsForGood: define('fails for good', () => {
      throw new PermanentError('never', { cause: new TypeError('wrong kind') })
    }),
    throwsValue: define('throws a value', () => {
      throw { no: 'error' }
    }),
    returns: define('returns', (what) => results[what]()),
    allocates: define('allocates', () => {
      const rows = []
      for (;;) rows.push(new Array(1_000).fill(rows.length))
    }),
    exits: define('exits', () => process.exit(3)),
    rejects: define('rejects', () => {
      void Promise.reject(new Error('loose end'))
      return new Promise(() => {})
    }),
    startsAnother: define('starts another', async (_, ctx) => {
      const { pid } = execFile(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
      await ctx.progress({ pid })
      for (;;);
    }),
    aborts: define('aborts', () => process.abort()),
    faults: define('faults', () => {
      process.kill(process.pid, 'SIGSEGV')
      return new Promise(() => {})
    }),
    ignoresTerm: define('ignores SIGTERM', async () => {
      process.kill(process.pid, 'SIGTERM')
      await sleep(20)
      return 'still here'
    }),
  }
}

/** The context of a run that has ended. */
let remaining

const results = {
  nothing: () => undefined,
  date: () => ({ at: new Date(0) }),
  url: () => ({ at: new URL('http://127.0.0.1/') }),
  proxy: () => new Proxy({ behind: 'a proxy' }, {}),
  function: () => ({ call: () => {} }),
  map: () => ({ all: new Map() }),
  circle: () => {
    const circle = {}
    circle.itself = circle
    return circle
  },
}

// Handles are of the queue that this program is of: a test says which.
const own = treadle(process.env.ISOLATED_JOBS_URL ?? 'memory:')
for (const kind of ['thread', 'process']) defineJobs(own, kind)
