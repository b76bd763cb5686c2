// Dispatches one job after the other, for ever, and prints each id once it is acknowledged.
import { writeSync } from 'node:fs'
import { treadle } from 'treadle'

const { path } = JSON.parse(process.argv[2])
const job = treadle(`sqlite:${path}`).declare('count')
for (let number = 0; ; number++) {
  // Ten at a time through one batch, and one on its own: both ways into the file.
  const runs = number % 2 === 0 ? [await job.dispatch({ number })] : await together(number)
  for (const { id } of runs) writeSync(1, `stored ${id}\n`)
  if (number === 50) writeSync(1, 'enough\n')
}

function together(number) {
  return Promise.all(Array.from({ length: 10 }, () => job.dispatch({ number })))
}
