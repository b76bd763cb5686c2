// Ends in the way that it is told, in the middle of its work.
import { treadle } from 'treadle'

const { path, way, after } = JSON.parse(process.argv[2])
const jobs = treadle(`sqlite:${path}`)
let left = after

function step() {
  left--
  if (left === 0) end()
}

function end() {
  if (way !== 'throws') process.exit(7)
  process.nextTick(() => {
    throw new Error('nobody catches this')
  })
}

const job = jobs.define('busy', () => {
  if (way !== 'dispatches') step()
})

if (way === 'opening') {
  void jobs.work({ signals: false })
  // The thread is started somewhere in these turns.
  const turn = () => {
    step()
    setImmediate(turn)
  }
  turn()
} else {
  if (way !== 'dispatches') void jobs.work({ signals: false, concurrency: 50 })
  for (;;) {
    await Promise.all(Array.from({ length: 300 }, (_, n) => job.dispatch({ n, text: 'x'.repeat(500) })))
    if (way === 'dispatches') setImmediate(step)
  }
}
