// What middleware that does nothing costs: drains empty jobs without it, with one and with five, in turns in one process. On a machine
// that others use too, the processor time says more than the rate.
// node bench/middleware/run.mjs [jobs] [rounds]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { treadle } from '../../dist/index.js'

const [count = 20_000, rounds = 5] = process.argv.slice(2, 4).map(Number)
const variants = [0, 1, 5]

const costs = new Map(variants.map((middleware) => [middleware, []]))
for (let round = -1; round < rounds; round++) {
  // Each round in another order: what the machine does beside is nobody's advantage. The first warms up.
  for (const middleware of variants.map((_, at) => variants[(at + round + 1) % variants.length])) {
    const cost = await drain(middleware)
    if (round >= 0) costs.get(middleware).push(cost)
  }
}
const none = leastOf(costs.get(0))
for (const [middleware, all] of costs) {
  const cpu = leastOf(all)
  const rate = Math.round(count / (Math.min(...all.map(({ tookMs }) => tookMs)) / 1000))
  const share = (none / cpu).toFixed(3)
  console.log(
    `middleware: ${middleware}; ${rate} jobs/s, ${cpu.toFixed(1)} µs of processor time a job, ${share} of none (least of ${rounds})`,
  )
}

function leastOf(all) {
  return (Math.min(...all.map(({ cpuMs }) => cpuMs)) * 1000) / count
}

async function drain(middleware) {
  const folder = mkdtempSync(join(tmpdir(), 'treadle-middleware-'))
  const jobs = treadle(`sqlite:${join(folder, 'jobs.db')}`)
  for (let each = 0; each < middleware; each++) jobs.use((_ctx, next) => next())
  const work = jobs.define('work', async () => {})
  for (let at = 0; at < count; at += 1_000) await work.dispatchMany(Array.from({ length: 1_000 }, (_, n) => at + n))
  const began = performance.now()
  const before = process.cpuUsage()
  await jobs.run({ concurrency: 100, scheduler: false })
  const tookMs = performance.now() - began
  const { user, system } = process.cpuUsage(before)
  await jobs.close()
  rmSync(folder, { recursive: true, force: true })
  return { tookMs, cpuMs: (user + system) / 1_000 }
}
