// Loses a part of its log while it dispatches, says what it was told, and ends as programs do.
import { statSync, truncateSync } from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'
import { treadle } from 'treadle'

const [, , path, left] = process.argv
const jobs = treadle(`sqlite:${path}`)
const mail = jobs.declare('mail')
await mail.dispatchMany(Array.from({ length: 500 }, (_, n) => `${n} ${'.'.repeat(200)}`))
const other = new DatabaseSync(path)
other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
other.close()
for (let n = 0; n < 150; n++) await mail.dispatch(n)
truncateSync(`${path}-wal`, left === 'half' ? Math.floor(statSync(`${path}-wal`).size / 2) : 0)
await mail.dispatch('lost').catch(({ code }) => console.log(code))
await jobs.close()
