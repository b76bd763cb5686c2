// What stored logs cost: drains jobs that log ten lines each, with logs stored and not, and jobs that log nothing, both ways. On a
// machine that others use too, the processor time says more than the rate.
// node bench/logs/run.mjs [jobs] [rounds] [url]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { treadle } from '../../dist/index.js'

const [count = 20_000, rounds = 5] = process.argv.slice(2, 4).map(Number)
const given = process.argv[4]
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const variants = [
  { name: '10 lines, stored', lines: 10, logs: {} },
  { name: '10 lines, not stored', lines: 10, logs: false },
  { name: 'no lines, logs on', lines: 0, logs: {} },
  { name: 'no lines, logs off', lines: 0, logs: false },
]

const times = new Map(variants.map(({ name }) => [name, []]))
for (let round = 0; round < rounds; round++) {
  // Each round in another order: what the machine does beside is nobody's advantage.
  for (const variant of variants.map((_, at) => variants[(at + round) % variants.length])) {
    times.get(variant.name).push(await drain(variant))
  }
}
for (const [name, all] of times) {
  const rate = Math.round(count / (medianOf(all.map(({ tookMs }) => tookMs)) / 1000))
  const cpu = Math.round((medianOf(all.map(({ cpuMs }) => cpuMs)) * 1000) / count)
  console.log(`${name.padEnd(22)} ${rate} jobs/s, ${cpu} µs of processor time a job (medians of ${rounds})`)
}

function medianOf(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

async function drain({ lines, logs }) {
  const folder = mkdtempSync(join(tmpdir(), 'treadle-logs-'))
  const jobs = treadle(given ?? `sqlite:${join(folder, 'jobs.db')}`, { unsigned: true, logger: silent, logs })
  const work = jobs.define('work', (n, ctx) => {
    for (let line = 0; line < lines; line++) ctx.log('processed a part of the order', { n, line })
  })
  for (let at = 0; at < count; at += 1_000)
    await work.dispatchMany(Array.from({ length: Math.min(1_000, count - at) }, (_, n) => at + n))
  const began = performance.now()
  const before = process.cpuUsage()
  await jobs.run({ concurrency: 100, scheduler: false })
  const tookMs = performance.now() - began
  const { user, system } = process.cpuUsage(before)
  await jobs.close()
  rmSync(folder, { recursive: true, force: true })
  return { tookMs, cpuMs: (user + system) / 1_000 }
}
