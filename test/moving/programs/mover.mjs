// Moves a queue, and says how far it is.
import { writeSync } from 'node:fs'
import { move } from 'treadle/move'

const options = JSON.parse(process.argv[2])
// Whoever started it is gone.
process.stdin.resume().on('end', () => process.exit(1))
writeSync(1, 'moving\n')
const report = await move({
  ...options,
  onProgress: ({ moved, waitingFor }) => writeSync(1, `progress ${moved} ${waitingFor ?? ''}\n`),
})
writeSync(1, `done ${JSON.stringify(report)}\n`)
process.stdin.destroy()
