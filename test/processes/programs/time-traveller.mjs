// Follows schedules on a clock that it is told: for each "<ms>" on stdin it makes a pass at that instant and says "at <ms>".
import { createInterface } from 'node:readline'
import { treadle } from 'treadle'
import { ManualClock } from 'treadle/testing'
import { schedules } from './schedules.mjs'

const { path, from } = JSON.parse(process.argv[2])
const clock = new ManualClock(from)
const jobs = treadle(`sqlite:${path}`, { clock })
for (const [name, say] of Object.entries(schedules)) {
  say(jobs.define(name, () => null)).misfire('all', { within: '7d', cap: 1_000 })
}
console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const to = Number(line)
  if (to > clock.now()) await clock.advance(to - clock.now())
  // Nobody works here: only the scheduler has something to do.
  await jobs.run({ queues: ['nobody'] })
  console.log(`at ${line}`)
}
await jobs.close()
