// A program as users write it: its jobs, and at its end the work. Isolates load this very file.
import { writeSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import { treadle } from 'treadle'

const { path, options } = JSON.parse(process.argv[2])
const jobs = treadle(`sqlite:${path}`)
const told = jobs.define('told', (by) => void writeSync(1, `told ${JSON.stringify(by)}\n`))
for (const kind of ['thread', 'process']) {
  jobs
    .define(`${kind} spins`, () => {
      writeSync(1, `spinning ${process.pid} ${threadId}\n`)
      for (;;);
    })
    .isolate(kind)
  jobs.define(`${kind} tells`, async () => void (await told.dispatch({ pid: process.pid, threadId }))).isolate(kind)
}
writeSync(1, `loaded ${process.pid} ${threadId}\n`)
process.on('SIGTERM', () => writeSync(1, 'got SIGTERM\n'))
await jobs.work(options)
writeSync(1, `done ${process.pid} ${threadId}\n`)
