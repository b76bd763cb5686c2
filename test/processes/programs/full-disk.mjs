// Dispatches until the file may grow no more, and tells how that ended. A limit of the system stands for a full disk.
import { writeSync } from 'node:fs'
import { treadle } from 'treadle'

// Its default is the end of the process, and not a failed write.
process.on('SIGXFSZ', () => {})

const { path, perCall, bytes } = JSON.parse(process.argv[2])
const jobs = treadle(`sqlite:${path}`)
const job = jobs.declare('count')
const text = 'x'.repeat(bytes)
const payloads = Array.from({ length: perCall }, (_, number) => ({ number, text }))
let stored = 0
try {
  for (let call = 0; call < 5_000; call++) {
    const runs = perCall === 1 ? [await job.dispatch(payloads[0])] : await job.dispatchMany(payloads)
    stored += runs.length
  }
} catch (error) {
  writeSync(1, `refused ${JSON.stringify({ name: error.name, code: error.code, message: error.message, stored })}\n`)
}
await jobs.close()
