// Opens and writes to a file as a user who may not: root gives up its rights first, since nothing is forbidden to it.
import { writeSync } from 'node:fs'
import { treadle } from 'treadle'

const { scratch, path } = JSON.parse(process.argv[2])
// The files are another user's: what is tried here is what happens to one who trusts them.
process.env.TREADLE_TRUSTED_OWNERS = '*'
// Whatever is loaded on first use is loaded while everything may be read.
await using(scratch)
if (process.getuid() === 0) {
  process.setgroups([])
  process.setgid(65_534)
  process.setuid(65_534)
}
try {
  await using(path)
  writeSync(1, 'stored {}\n')
} catch (error) {
  writeSync(1, `refused ${JSON.stringify({ name: error.name, code: error.code, message: error.message })}\n`)
}

async function using(file) {
  const jobs = treadle(`sqlite:${file}`)
  try {
    await jobs.declare('count').dispatch(1)
    await jobs.dispatchMany('count', new Array(100).fill(1))
  } finally {
    await jobs.close()
  }
}
