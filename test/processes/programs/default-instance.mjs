// Opens the default instance from the working folder, and tells how that ended.
import { writeSync } from 'node:fs'
import { jobs } from 'treadle'

try {
  await jobs.open()
  writeSync(1, 'opened {}\n')
} catch (error) {
  writeSync(1, `refused ${JSON.stringify({ name: error.name, code: error.code, message: error.message })}\n`)
}
await jobs.close()
