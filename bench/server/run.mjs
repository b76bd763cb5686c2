// How many requests a second `treadle serve` answers on a SQLite file: node bench/server/run.mjs [--jobs 20000] [--connections 1,8,32]
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { machine } from '../machine.mjs'
import { prepareTreadle } from '../packages.mjs'

const options = {
  jobs: { type: 'string', default: '10000' },
  connections: { type: 'string', default: '1,8,32' },
  waiters: { type: 'string', default: '2000' },
  // Another queue than a new file: it is used as it is.
  url: { type: 'string', default: 'sqlite:jobs.db' },
}
const { values } = parseArgs({ options })
const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const caches = fileURLToPath(new URL('../node_modules/.cache', import.meta.url))

prepareTreadle()
const rows = []
for (const connections of values.connections.split(',').map(Number)) {
  for (const nameEach of [false, true]) {
    const figures = await measure('clients.mjs', { connections, jobs: Number(values.jobs), nameEach })
    rows.push({ connections, names: nameEach ? 'one a job' : 'one', ...figures })
  }
}
const waiting = await measure('waiters.mjs', { waiters: Number(values.waiters) })
const { date, cpu, cores, system, node } = machine([])
console.log(`${date} UTC, ${cores} cores of ${cpu}, ${system}, Node ${node}; ${values.jobs} jobs`)
console.table(rows)
console.table([waiting])

/** A server in a process of its own, on the disk of the checkout, and the clients in another one. */
async function measure(script, settings) {
  mkdirSync(caches, { recursive: true })
  const folder = mkdtempSync(join(caches, 'server-'))
  const args = ['serve', '--url', values.url, '--port', '0', '--no-http', '--json']
  const env = { ...process.env, TREADLE_SIGNING_KEY: 'of the benchmark alone' }
  const server = spawn(process.execPath, [main, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [line] = await once(createInterface({ input: server.stdout }), 'line')
    const { port } = JSON.parse(line).tcp
    const clients = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify({ port, ...settings })])
    const [figures] = await once(clients, 'message')
    return figures
  } finally {
    server.kill('SIGTERM')
    await once(server, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }
}
