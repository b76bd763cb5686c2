// A job server's dashboard in a process of its own. Says its address, and how much processor time it has taken whenever it is asked.
import { createServer } from 'node:http'
import { treadle } from '../../dist/index.js'
import { dashboard } from '../../dist/server/dashboard/index.js'

const [url, signingKey] = process.argv.slice(2)
const jobs = treadle(url, { signingKey, logger: { debug() {}, info() {}, warn() {}, error() {} } })
const shown = dashboard(jobs, { authorize: () => ({ role: 'read' }) })
const server = createServer(shown.node).listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('message', () => process.send(process.cpuUsage()))
process.once('disconnect', () => process.exit())
