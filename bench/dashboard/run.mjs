// What the pages of the dashboard cost with few jobs and with very many, and what viewers cost a busy worker, on SQLite.
//   node bench/dashboard/run.mjs [--jobs 1000,1000000] [--viewers 50] [--drain 100000]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { treadle } from '../../dist/index.js'
import { dashboard } from '../../dist/server/dashboard/index.js'

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '1000,1000000' },
    viewers: { type: 'string', default: '50' },
    drain: { type: 'string', default: '100000' },
  },
})

const headers = { 'sec-fetch-site': 'same-origin' }
const rare = 20
const rounds = 15
const silent = { debug() {}, info() {}, warn() {}, error() {} }

await main()

async function main() {
  const sizes = values.jobs.split(',').map(Number)
  const measured = []
  for (const size of sizes) measured.push(await inFolder((folder) => pagesWith(folder, size)))
  const [few = {}, ...others] = measured
  for (const [index, many] of others.entries()) {
    console.log(`\n${'page'.padEnd(34)}${String(sizes[0]).padStart(12)}${String(sizes[index + 1]).padStart(12)}   ratio`)
    for (const [name, ms] of Object.entries(many)) {
      const ratio = (ms / few[name]).toFixed(2)
      console.log(`${name.padEnd(34)}${few[name].toFixed(2).padStart(9)} ms${ms.toFixed(2).padStart(9)} ms${ratio.padStart(8)}`)
    }
  }
  const count = Number(values.viewers)
  if (count === 0) return
  // Taken in turn, so that what else the machine does concerns both.
  const [alone, watched] = [[], []]
  for (let round = 0; round < 3; round++) {
    alone.push(await inFolder((folder) => drained(folder, 0)))
    watched.push(await inFolder((folder) => drained(folder, count)))
  }
  const [without, beside] = [median(alone), median(watched)]
  const cost = ((1 - beside / without) * 100).toFixed(1)
  console.log(
    `\ndrain without viewers ${Math.round(without)} jobs/s, with ${count} of them ${Math.round(beside)} jobs/s: ${cost} % less`,
  )
}

/** The median time of each page's data, in milliseconds. */
async function pagesWith(folder, size) {
  const jobs = open(folder)
  jobs.define('rare', () => {})
  jobs.define('plain', () => {})
  jobs.define('charge', (n) => {
    throw new Error(`The card ${n} was declined`)
  })
  await jobs.dispatchMany('rare', range(rare), { tags: ['seldom'], group: 'acme' })
  await jobs.run()
  await filled(jobs, 'plain', size - rare)
  await jobs.run({ concurrency: 100 })
  await jobs.dispatchMany('charge', range(Math.min(1_000, size / 10)))
  await jobs.run({ concurrency: 100 })
  const waiting = jobs.declare('waiting')
  await filled(jobs, waiting, Math.min(50_000, size / 10))
  const shown = dashboard(jobs, { authorize: () => ({ role: 'read' }) })
  const [first] = await (await jobs.store()).list({ state: 'dead', limit: 1 })
  const pages = {
    overview: 'view?topic=overview:1h',
    'overview, seven days': 'view?topic=overview:7d',
    jobs: 'jobs?q=',
    'jobs, succeeded': 'jobs?q=state:succeeded',
    'jobs, dead': 'jobs?q=state:dead',
    'jobs, ready': 'jobs?q=state:ready',
    'jobs of a queue': 'jobs?q=queue:default',
    'jobs with a rare tag': 'jobs?q=tag:seldom',
    'jobs of a rare name, dead': 'jobs?q=job:charge+state:dead',
    'jobs of a rare name': 'jobs?q=job:rare',
    'jobs of a rare name, succeeded': 'jobs?q=job:rare+state:succeeded',
    'jobs of a rare group': 'jobs?q=group:acme',
    'a job': `view?topic=job:${first.id}`,
    queues: 'view?topic=queues',
    'a queue': 'view?topic=queue:default',
    workflows: 'workflows',
    schedules: 'view?topic=schedules',
    dead: 'dead',
    workers: 'view?topic=workers',
    activity: 'view?topic=activity',
  }
  const times = {}
  for (const [name, path] of Object.entries(pages)) {
    const taken = []
    for (let round = 0; round < rounds; round++) {
      const start = performance.now()
      const answer = await shown.fetch(new Request(`http://localhost/-/${path}`, { headers }))
      await answer.text()
      taken.push(performance.now() - start)
      if (!answer.ok) throw new Error(`${name}: ${answer.status}`)
    }
    times[name] = median(taken)
  }
  await shown.close()
  await jobs.close()
  return times
}

/** How many jobs a second a worker does while so many browsers watch its overview. */
async function drained(folder, viewers) {
  const jobs = open(folder)
  jobs.define('plain', () => {})
  await filled(jobs, 'plain', Number(values.drain))
  const shown = dashboard(jobs, { authorize: () => ({ role: 'read' }) })
  const server = createServer(shown.node).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/-/events?topic=overview%3A1h&topic=counts`
  // Browsers are other processes.
  const browsers = viewers === 0 ? null : fork(new URL('./viewers.mjs', import.meta.url), [url, String(viewers)])
  if (browsers !== null) await once(browsers, 'message')
  const start = performance.now()
  const { succeeded } = await jobs.run({ concurrency: 100 })
  const rate = succeeded / ((performance.now() - start) / 1_000)
  browsers?.kill()
  await shown.close()
  server.closeAllConnections()
  server.close()
  await jobs.close()
  return rate
}

function open(folder) {
  return treadle(`sqlite:${join(folder, 'jobs.db')}`, { signingKey: 'a-key-for-the-bench-of-the-dashboard', logger: silent })
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
