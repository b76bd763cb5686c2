// Fills a queue with jobs that only `backlog-worker.mjs` runs: plain ones, delayed ones and workflows, beside a schedule. It writes
// each id down, with what was sent, when its dispatch is acknowledged.
import { openSync, writeSync } from 'node:fs'
import { treadle } from 'treadle'

const { url, log, count } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
// Whoever started it is gone.
process.stdin.resume().on('end', () => process.exit(1))
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const jobs = treadle(url, { signingKey: 'a key for tests, of 32 characters', logger: silent })
const item = jobs.declare('item')
const step = jobs.declare('step')

/** `sent` are the payloads of these runs, in their order. */
function acknowledge(runs, sent) {
  writeSync(file, runs.map(({ id }, index) => `acked ${id} ${process.pid} ${Date.now()} ${sent[index]}\n`).join(''))
}

async function workflow(name) {
  const build = jobs.workflow()
  const first = build.add(step.step(`${name}:1`))
  const middle = [2, 3].map((place) => build.add(step.step(`${name}:${place}`), { after: first }))
  build.add(step.step(`${name}:4`), { after: middle })
  const { runs } = await build.dispatch()
  acknowledge(
    runs,
    [1, 2, 3, 4].map((place) => `${name}:${place}`),
  )
}

const everyTenSeconds = { cron: '*/10 * * * * *', misfire: { kind: 'all', within: '1d', cap: 10_000 }, overlap: 'queue' }
await jobs.schedules.upsert('tick', { job: 'tick', ...everyTenSeconds })
for (let number = 0; number < count; number += 500) {
  const plain = Array.from({ length: 420 }, (_, index) => `n${number + index}`)
  const delayed = Array.from({ length: 40 }, (_, index) => `d${number + index}`)
  acknowledge(await item.dispatchMany(plain), plain)
  acknowledge(await item.delay('2m').dispatchMany(delayed), delayed)
  await Promise.all(Array.from({ length: 10 }, (_, index) => workflow(`w${number + index}`)))
}
writeSync(1, 'filled\n')
await jobs.close()
process.stdin.destroy()
