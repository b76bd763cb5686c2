// What the pages of the dashboard cost with few jobs and with very many, and what viewers cost a busy worker.
//   node bench/dashboard/run.mjs [--jobs 1000,1000000] [--viewers 50] [--drain 100000] [--rounds 40] [--pages 'rare|dead'] [--paint]
// On SQLite, or on the databases TREADLE_BENCH_URL_few and TREADLE_BENCH_URL_many of a server, which must be there and empty. Requests are made to both queues in turn, so
// that what else the machine does concerns both. --paint also opens the pages in Chromium.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { treadle } from '../../dist/index.js'
import { dashboard } from '../../dist/server/dashboard/index.js'
import { addClones } from './clones.mjs'
import { paintedIn } from './painting.mjs'

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '1000,1000000' },
    viewers: { type: 'string', default: '50' },
    drain: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '40' },
    pages: { type: 'string', default: '' },
    paint: { type: 'boolean', default: false },
  },
})

const headers = { 'sec-fetch-site': 'same-origin' }
const rare = 20
const signingKey = 'a-key-for-the-bench-of-the-dashboard'
const silent = { debug() {}, info() {}, warn() {}, error() {} }

await inFolder(async (folder) => {
  const [few, many] = values.jobs.split(',').map(Number)
  if (many > 0) await comparePages(folder, few, many)
  if (Number(values.viewers) > 0) await compareDrains(folder, Number(values.viewers))
})

async function comparePages(folder, few, many) {
  const [small, large] = [await queueWith(urlOf(folder, 'few'), few), await queueWith(urlOf(folder, 'many'), many)]
  console.log(
    `\n${'page'.padEnd(34)}${String(few).padStart(12)}${String(many).padStart(12)}   ratio   least time to the whole answer, as other programs only add to it`,
  )
  for (const name of Object.keys(small.pages).filter((each) => new RegExp(values.pages).test(each))) {
    const [times, others] = [[], []]
    for (let round = 0; round < Number(values.rounds); round++) {
      times.push(await small.time(name))
      others.push(await large.time(name))
    }
    tell(name, Math.min(...times), Math.min(...others))
  }
  if (values.paint) {
    console.log('\nlast paint in Chromium')
    for (const name of ['overview', 'jobs', 'jobs, succeeded', 'jobs of a rare name', 'a job', 'queues', 'workflows', 'dead']) {
      const [times, others] = await paintedIn(small, large, name, 7)
      tell(name, median(times), median(others))
    }
  }
  await small.close()
  await large.close()
}

function tell(name, few, many) {
  const ratio = (many / few).toFixed(2)
  console.log(`${name.padEnd(34)}${few.toFixed(2).padStart(9)} ms${many.toFixed(2).padStart(9)} ms${ratio.padStart(8)}`)
}

/** A dashboard of so many jobs, most of them ended, with a rare name, group and tag behind all others. */
async function queueWith(url, size) {
  const jobs = open(url)
  jobs.define('rare', () => {})
  jobs.define('plain', () => {})
  jobs.define('charge', (n) => {
    throw new Error(`The card ${n} was declined`)
  })
  await jobs.dispatchMany('rare', range(rare), { tags: ['seldom'], group: 'acme' })
  await jobs.run()
  const plain = await jobs.dispatch('plain', 0)
  await jobs.run()
  await addClones(url, plain.id, size - rare)
  await jobs.dispatchMany('charge', range(100))
  await jobs.run({ concurrency: 100 })
  await filled(jobs, jobs.declare('waiting'), Math.min(50_000, size / 10))
  const flow = await jobs.chain([jobs.declare('first').step(1), jobs.declare('second').step(2)])
  const shown = dashboard(jobs, { authorize: () => ({ role: 'read' }) })
  const [first] = await (await jobs.store()).list({ state: 'dead', limit: 1 })
  const server = createServer(shown.node).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const pages = {
    overview: ['view?topic=overview:1h', '/'],
    'overview, seven days': ['view?topic=overview:7d'],
    jobs: ['jobs?q=', '/jobs'],
    'jobs, succeeded': ['jobs?q=state:succeeded', '/jobs?q=state:succeeded'],
    'jobs, dead': ['jobs?q=state:dead'],
    'jobs, ready': ['jobs?q=state:ready'],
    'jobs of a queue': ['jobs?q=queue:default'],
    'jobs with a rare tag': ['jobs?q=tag:seldom'],
    'jobs of a rare name': ['jobs?q=job:rare', '/jobs?q=job:rare'],
    'jobs of a rare name, succeeded': ['jobs?q=job:rare+state:succeeded'],
    'jobs of a rare name, dead': ['jobs?q=job:charge+state:dead'],
    'jobs of a rare group': ['jobs?q=group:acme'],
    'jobs of a rare name and group': ['jobs?q=group:acme+job:rare'],
    'a job': [`view?topic=job:${first.id}`, `/jobs/${first.id}`],
    queues: ['view?topic=queues', '/queues'],
    'a queue': ['view?topic=queue:default'],
    workflows: ['workflows', '/workflows'],
    'a workflow': [`view?topic=workflow:${flow.id}`],
    schedules: ['view?topic=schedules'],
    dead: ['view?topic=dead', '/dead'],
    workers: ['view?topic=workers'],
    engine: ['view?topic=engine'],
    activity: ['view?topic=activity'],
  }
  return {
    pages,
    address: `http://127.0.0.1:${server.address().port}`,
    /** Of a dashboard that has read nothing yet, so that what one reading is shared among viewers does not hide what it takes. */
    async time(name) {
      const fresh = dashboard(jobs, { authorize: () => ({ role: 'read' }) })
      const ask = (path) => fresh.fetch(new Request(`http://localhost/-/${path}`, { headers }))
      await (await ask('me')).text()
      const start = performance.now()
      const answer = await ask(pages[name][0])
      await answer.text()
      const ms = performance.now() - start
      await fresh.close()
      if (!answer.ok) throw new Error(`${name}: ${answer.status}`)
      return ms
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await shown.close()
      await jobs.close()
    },
  }
}

/**
 * What viewers take of a worker's processor time: of one that serves the dashboard too, and of one beside a server in a process of its own.
 * Browsers are another process in both. Viewers cost by the second, jobs cost each, so what they take is also told as a share of a core.
 * The drain must last for seconds: what a page costs once, when it is opened, is not what viewers cost.
 */
async function compareDrains(folder, viewers) {
  for (const place of ['in the process of the worker', 'in a process of its own']) {
    const [alone, watched] = [[], []]
    for (let round = 0; round < 5; round++) {
      alone.push(await drained(urlOf(folder, `alone${place.length}${round}`), 0, place))
      watched.push(await drained(urlOf(folder, `watched${place.length}${round}`), viewers, place))
    }
    const perJob = (runs) => median(runs.map(({ cpuMs, jobs }) => cpuMs / jobs)) * 1_000
    const share = median(watched.map(({ cpuMs, jobs, ms }) => (cpuMs - (perJob(alone) / 1_000) * jobs) / ms))
    console.log(`
The dashboard ${place}: a job takes ${perJob(alone).toFixed(1)} µs of the worker's processor time without viewers and
${perJob(watched).toFixed(1)} µs with ${viewers}: ratio ${(perJob(watched) / perJob(alone)).toFixed(3)}. They take ${(share * 100).toFixed(1)} % of a core of the worker, and ${(median(watched.map(({ serverShare }) => serverShare)) * 100).toFixed(1)} % of the server's`)
  }
}

async function drained(url, viewers, place) {
  const jobs = open(url)
  jobs.define('plain', () => {})
  await filled(jobs, 'plain', Number(values.drain))
  const served = await (place === 'in a process of its own' ? servedBeside(url) : servedHere(jobs))
  const events = `http://127.0.0.1:${served.port}/-/events?topic=overview%3A1h&topic=counts&topic=verdict`
  const browsers = viewers === 0 ? null : fork(new URL('./viewers.mjs', import.meta.url), [events, String(viewers)])
  if (browsers !== null) await once(browsers, 'message')
  const servedBefore = await served.cpu()
  const [before, start] = [process.cpuUsage(), performance.now()]
  const { succeeded } = await jobs.run({ concurrency: 100 })
  const { user, system } = process.cpuUsage(before)
  const ms = performance.now() - start
  const serverShare = ((await served.cpu()) - servedBefore) / ms
  browsers?.kill()
  await served.close()
  await jobs.close()
  return { cpuMs: (user + system) / 1_000, jobs: succeeded, ms, serverShare }
}

async function servedHere(jobs) {
  const shown = dashboard(jobs, { authorize: () => ({ role: 'read' }) })
  const server = createServer(shown.node).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: server.address().port,
    cpu: async () => 0,
    async close() {
      server.closeAllConnections()
      server.close()
      await shown.close()
    },
  }
}

async function servedBeside(url) {
  const beside = fork(new URL('./server.mjs', import.meta.url), [url, signingKey])
  const [port] = await once(beside, 'message')
  return {
    port,
    async cpu() {
      beside.send('cpu')
      const [{ user, system }] = await once(beside, 'message')
      return (user + system) / 1_000
    },
    async close() {
      beside.kill()
      await once(beside, 'exit')
    },
  }
}

function urlOf(folder, name) {
  const given = process.env.TREADLE_BENCH_URL
  if (given === undefined) return `sqlite:${join(folder, `${name}.db`)}`
  return `${given}_${name}`
}

function open(url) {
  return treadle(url, { signingKey, logger: silent })
}

async function filled(jobs, job, count) {
  for (let at = 0; at < count; at += 10_000) await jobs.dispatchMany(job, range(Math.min(10_000, count - at)))
}

function range(count) {
  return Array.from({ length: count }, (_, n) => n)
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
}

async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'treadle-bench-dashboard-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
