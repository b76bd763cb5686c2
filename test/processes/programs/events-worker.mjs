import { treadle } from 'treadle'

const { url, signingKey } = JSON.parse(process.argv[2])
const jobs = treadle(url, { signingKey })
jobs.define('add', ({ a }) => a + 1).tags('sums')
jobs.define('hang', () => new Promise(() => {}))
jobs.on('worker:started', () => console.log('working'))
jobs.on('job:started', ({ job }) => console.log(`started-${job}`))
await jobs.work()
await jobs.close()
