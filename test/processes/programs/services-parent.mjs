// Starts servers, tells which processes they are, and then does as it was told: waits for ever, ends by itself, or throws.
import { startServices } from '../../../scripts/services/start.mjs'

const { names, folder, then } = JSON.parse(process.argv[2])
console.log('starting')
const { servers } = await startServices({ names, folder, env: { PATH: process.env.PATH } })
console.log(`started ${Object.values(servers).map(({ pid }) => pid)}`)
if (then === 'wait') setInterval(() => {}, 60_000)
if (then === 'throw') throw new Error('as it was told')
