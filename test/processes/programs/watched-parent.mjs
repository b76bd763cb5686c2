// Starts a process that watches this one, and waits to be killed. Given a second argument, it is that process.
import { spawn } from 'node:child_process'
import { writeSync } from 'node:fs'
import { watchParent } from '../../../build/isolation/parent-watch.js'

const options = JSON.parse(process.argv[2])
const { graceMs, detached, isBlocked, heeds } = options
const isChild = process.argv[3] !== undefined
if (!isChild) {
  const args = [import.meta.filename, process.argv[2], String(process.pid)]
  spawn(process.execPath, args, { detached, stdio: ['ignore', 'inherit', 'inherit'] })
} else {
  watchParent({ parent: Number(process.argv[3]), graceMs }, () => {
    writeSync(1, `gone ${process.pid}\n`)
    if (heeds) process.exit(0)
  })
  // Started by the one that watches, and left alone when that ends.
  const own = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  writeSync(1, `child ${process.pid} ${own.pid}\n`)
  if (isBlocked) for (;;);
}
setInterval(() => {}, 1_000)
