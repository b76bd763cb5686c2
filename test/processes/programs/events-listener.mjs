import { treadle } from 'treadle'

const { url, signingKey, include } = JSON.parse(process.argv[2])
const jobs = treadle(url, { signingKey })
const events = jobs.events({ include })
await events.listening
console.log('listening')
for await (const event of events) console.log(`event ${JSON.stringify(event)}`)
