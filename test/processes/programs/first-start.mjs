// Waits for the file `go`, so that several of these open a new database at the same moment; then each stores one job.
import { existsSync, writeSync } from 'node:fs'
import { treadle } from 'treadle'

const { path, go } = JSON.parse(process.argv[2])
const jobs = treadle(`sqlite:${path}`)
writeSync(1, 'waiting\n')
while (!existsSync(go)) {
  // Busy on purpose: a pause would spread the starts.
}
const run = await jobs.declare('count').dispatch({ pid: process.pid })
writeSync(1, `stored ${run.id}\n`)
await jobs.close()
