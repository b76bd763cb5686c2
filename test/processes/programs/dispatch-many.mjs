// Dispatches many jobs in one call.
import { writeSync } from 'node:fs'
import { treadle } from 'treadle'

const { path, count } = JSON.parse(process.argv[2])
const jobs = treadle(`sqlite:${path}`)
const payloads = Array.from({ length: count }, (_, number) => ({ number, text: 'x'.repeat(200) }))
await jobs.open()
writeSync(1, 'sending\n')
await jobs.declare('count').dispatchMany(payloads)
writeSync(1, 'sent\n')
await jobs.close()
