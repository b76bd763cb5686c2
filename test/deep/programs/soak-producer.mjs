// Dispatches jobs of all kinds until it is killed or has dispatched enough, and writes each id down when its dispatch is acknowledged.
// It does not run far ahead of the workers: all that is acknowledged must end before the soak does.
import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { treadle } from 'treadle'

const { url, log, count } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
// Whoever started it is gone.
process.stdin.resume().on('end', () => process.exit(1))
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const jobs = treadle(url, { signingKey: 'a key for tests, of 32 characters', logger: silent })
const names = ['plain', 'limited', 'grouped', 'shaky', 'parent']
const kinds = names.map((name) => jobs.declare(name))
const acknowledge = (runs) => writeSync(file, runs.map(({ id }) => `acked ${id} ${process.pid} ${Date.now()} \n`).join(''))

const mostAhead = 3_000
async function untilThereIsRoom() {
  for (;;) {
    const store = await jobs.store()
    // Other jobs may wait in the queue for as long as they like.
    const own = (await Promise.all(names.map((job) => store.counts({ job })))).flat()
    if (own.reduce((sum, { counts }) => sum + counts.ready + counts.scheduled, 0) < mostAhead) return
    await pause(50)
  }
}

writeSync(1, 'producing\n')
const [plain] = kinds
for (let number = 0; number < count; ) {
  try {
    await untilThereIsRoom()
    const payloads = Array.from({ length: 60 }, (_, index) => ({ number: number + index, customer: `c${(number + index) % 97}` }))
    acknowledge(await plain.dispatchMany(payloads))
    // One by one, and at the same time.
    acknowledge(
      await Promise.all(payloads.slice(0, 30).map((payload, index) => kinds[index % 10 < 5 ? index % 5 : 0].dispatch(payload))),
    )
    acknowledge([await plain.delay('200ms').dispatch({ number }), await plain.dispatch({ number })])
    number += 92
  } catch (error) {
    // The server is being restarted: what was refused is not acknowledged.
    writeSync(1, `trouble ${error.code} ${error.message}\n`)
    await pause(50)
  }
}
writeSync(1, 'produced\n')
await jobs.close()
process.stdin.destroy()
