// Runs the example project in examples/tour on a new SQLite file, and reports what happens. `npm start` is this script.
//   --folder DIR   keeps the database there instead of in a new temporary folder
//   --once         ends when all samples have ended, instead of on Ctrl-C
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { jobPaths, loadConfigFile, loadJobFiles } from '../build/app/config/config-file.js'
import { configure, jobs } from '../build/index.js'
import { serve } from '../build/server/index.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const configFile = join(root, 'examples/tour/treadle.config.ts')
const nameWidth = 14
const startedAt = performance.now()
let stopping = false
const { once, folder } = options()
const url = `sqlite:${join(folder, 'tour.db')}`

const worker = await loadProject()
const server = await openServer()
tellServer()
const runs = await dispatchSamples()
const stopTelling = tellEvents()
const working = jobs.work({ ...worker, signals: false })
stopOnSignal()
await Promise.race([samplesThrough(), working])
if (once) await jobs.stop()
else if (!stopping)
  say(
    'tour',
    `all samples have ended. The heartbeat continues every 3 seconds: watch it at ${server.dashboardUrl()}. Ctrl-C ends the tour.`,
  )
const report = await working
await server.stop()
stopTelling()
await tellSummary(report)
await jobs.close()

function options() {
  const { values } = parseArgs({ options: { once: { type: 'boolean' }, folder: { type: 'string' } } })
  const folder = values.folder === undefined ? mkdtempSync(join(tmpdir(), 'treadle-tour-')) : resolve(values.folder)
  mkdirSync(folder, { recursive: true })
  return { once: values.once === true, folder }
}

/** Like the command line: the config file, then the files with the jobs. */
async function loadProject() {
  // The tour uses its own file, whatever this terminal is set to.
  delete process.env.TREADLE_URL
  const loaded = await loadConfigFile(configFile)
  if (!('config' in loaded)) throw new Error(`${configFile} must export a config`)
  configure({ ...loaded.config, url }, loaded.folder)
  await loadJobFiles(jobs, jobPaths(loaded))
  return loaded.config.worker
}

/** On the usual ports, or on free ones if another program uses them. */
async function openServer() {
  const ports = {}
  for (;;) {
    try {
      return await serve(jobs, ports)
    } catch (thrown) {
      if (thrown.code !== 'LISTEN_FAILED' || ports.port === 0) throw thrown
      Object.assign(ports, { port: 0, httpPort: 0 })
    }
  }
}

function tellServer() {
  console.log(`
  Dashboard:  ${server.dashboardUrl()}

Treadle, a short tour. The jobs are in ${relative(process.cwd(), join(root, 'examples/tour/jobs'))}; the worker, scheduler and job server run in this process.
The queue is one file: ${join(folder, 'tour.db')}
`)
  if (!once) tellCommands()
  const { port } = server.address
  const { port: httpPort } = server.httpAddress
  const http = `http://127.0.0.1:${httpPort}/api/v1`
  say('server', `tcp  127.0.0.1:${port}   printf 'CreateJob\\nname: greet\\ndata: {"name":"Grace"}\\n\\n' | nc 127.0.0.1 ${port}`)
  say('server', `http ${http}   curl ${http}/jobs`)
}

async function dispatchSamples() {
  say('greet', 'dispatched: a worker runs it at once')
  const greet = await jobs.dispatch('greet', { name: 'Ada' })
  say('remind', 'dispatched with a delay of 3 seconds: it waits in the file')
  const remind = await jobs.dispatch('remind', { text: 'the kettle is on' }, { delay: '3s' })
  say('fetch-rates', 'dispatched: it fails twice, and is retried after a longer delay each time')
  const fetchRates = await jobs.dispatch('fetch-rates', { base: 'EUR' })
  say('charge-card', 'dispatched: it fails permanently, so it is not retried')
  const chargeCard = await jobs.dispatch('charge-card', { order: 42 })
  say('render-video', 'dispatched: it takes a while and reports its progress')
  const renderVideo = await jobs.dispatch('render-video', { frames: 100 })
  return { greet, remind, fetchRates, chargeCard, renderVideo }
}

function tellEvents() {
  const listeners = [
    jobs.on('job:started', ({ job, attempt }) => say(job, attempt === 1 ? 'started' : `started again: attempt ${attempt}`)),
    jobs.on('job:succeeded', ({ job, durationMs }) => say(job, `done in ${Math.round(durationMs)} ms`)),
    jobs.on('job:failed', ({ job, error, retryInMs }) => say(job, `failed: ${error.message}; retried in ${retryInMs} ms`)),
    jobs.on('job:dead', ({ job, error, reason }) =>
      say(job, `dead (${reason}): ${error.message}. It is kept with its error, and can be replayed.`),
    ),
    jobs.on('job:released', ({ job }) =>
      say(job, 'returned to the queue unfinished: the next worker runs it again, and the attempt does not count'),
    ),
    jobs.on('schedule:enqueued', ({ schedule, at }) => say(schedule, `queued by its schedule, due ${timeOf(at)}`)),
  ]
  const progress = setInterval(async () => {
    const share = await runs.renderVideo.progress().catch(() => null)
    if (typeof share === 'number' && share < 1) say('render-video', `${Math.round(share * 100)} %`)
  }, 1_000)
  return () => {
    clearInterval(progress)
    for (const stop of listeners) stop()
  }
}

/** Until each sample has ended, well or not, and the schedule has run once. */
async function samplesThrough() {
  const beat = new Promise((resolve) => {
    const stop = jobs.on('job:succeeded', ({ job }) => {
      if (job !== 'heartbeat') return
      stop()
      resolve(undefined)
    })
  })
  await Promise.all([beat, ...Object.values(runs).map((run) => run.result().catch(() => {}))])
}

/** Some launchers pass on the Ctrl-C that the terminal has sent to both: what comes right after the first is the same one. */
function stopOnSignal() {
  let askedAt
  const listener = () => {
    if (askedAt !== undefined) {
      if (performance.now() - askedAt < 500) return
      console.log('\nStopped at once. Running jobs stay leased for half a minute, then another worker runs them again.')
      process.exit(130)
    }
    stopping = true
    askedAt = performance.now()
    console.log('\nStopping: no new jobs; running jobs have 10 seconds to end. Press Ctrl-C again to stop at once.')
    void jobs.stop()
  }
  process.on('SIGINT', listener)
  process.on('SIGTERM', listener)
}

async function tellSummary(report) {
  const counts = await (await jobs.store()).counts()
  console.log('\nThe jobs in the file:')
  for (const { job, counts: states } of counts) {
    const parts = Object.entries(states).flatMap(([state, count]) => (count === 0 ? [] : [`${count} ${state}`]))
    console.log(`  ${job.padEnd(nameWidth)}${parts.join(', ')}`)
  }
  console.log(`
This worker: ${report.succeeded} succeeded, ${report.retried} retried, ${report.dead} dead.
Scheduled jobs wait in the file for the next worker.
`)
  tellCommands()
}

function tellCommands() {
  const cli = `node ${relative(process.cwd(), join(root, 'dist/cli/main.js'))}`
  const config = `--config ${relative(process.cwd(), configFile)}`
  console.log(`Try these in another terminal, in this folder:
  ${cli} list --url ${url}
  ${cli} dead list --url ${url}
  ${cli} status --url ${url} ${config}
  ${cli} send greet '{"name":"Grace"}' --url ${url} ${config}
`)
}

function say(who, what) {
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)}s  ${who.padEnd(nameWidth)}${what}`)
}

function timeOf(ms) {
  return new Date(ms).toLocaleTimeString()
}
