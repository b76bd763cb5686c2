// Opens one new database after the other, each at the same moment as the other programs, and stores one job in it.
import { existsSync, writeFileSync, writeSync } from 'node:fs'
import { treadle } from 'treadle'

const { folder, name, names, rounds } = JSON.parse(process.argv[2])
for (let round = 0; round < rounds; round++) {
  writeFileSync(`${folder}/${round}.${name}`, '')
  while (!names.every((other) => existsSync(`${folder}/${round}.${other}`))) shortPause()
  const jobs = treadle(`sqlite:${folder}/${round}.db`)
  await jobs.declare('count').dispatch({ name })
  await jobs.close()
}
writeSync(1, 'done\n')

function shortPause() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
}
