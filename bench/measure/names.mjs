// What a job costs that is alone, and what it costs beside very many jobs that each have a name or a queue of their own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { treadle } from '../../dist/index.js'
import { median } from './statistics.mjs'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const signingKey = 'of the benchmark alone'
const perRequest = 1_000
const inFlight = 200

/** Each figure is how many times as long it takes beside the others; with `Alone` and `Beside` in milliseconds. */
export async function measure({ place, kind, crowd, samples }) {
  const url = place.includes('://') ? place : `sqlite:${join(place, 'treadle.db')}`
  const worker = await openWorker(url)
  const server = await openServer(url)
  try {
    const alone = await timesOf(worker, server, samples)
    await fill[kind](url, server, crowd)
    const beside = await timesOf(worker, server, samples)
    return Object.fromEntries(
      Object.keys(alone).flatMap((what) => [
        [what, beside[what] / alone[what]],
        [`${what}Alone`, alone[what]],
        [`${what}Beside`, beside[what]],
      ]),
    )
  } finally {
    await server.close()
    await worker.close()
  }
}

async function timesOf(worker, { ask }, samples) {
  const idOf = async (request) => JSON.parse((await ask(request)).body).jobID
  const finish = async (id) => ask(`FinishJob\r\njobID: ${id}`)
  const take = (name) => idOf(`GetJob\r\nname: ${name}`)
  const operations = {
    claim: {
      before: () => ask('CreateJob\r\nname: one'),
      run: () => take('one'),
      after: finish,
    },
    wake: { before: () => pause(5), run: () => worker.runOne() },
    unique: {
      run: () => idOf('CreateJob\r\nname: unique-one\r\nunique: true'),
      after: async () => finish(await take('unique-one')),
    },
    pattern: {
      before: () => ask('CreateJob\r\nname: target-one'),
      run: () => take('target-*'),
      after: finish,
    },
    status: { run: () => worker.status() },
  }
  const medians = {}
  for (const [what, operation] of Object.entries(operations)) medians[what] = await medianOf(operation, samples)
  return medians
}

async function medianOf({ before = async () => {}, run, after = async () => {} }, samples) {
  const times = []
  const warmUp = Math.ceil(samples / 4)
  for (let sample = 0; sample < warmUp + samples; sample++) {
    await before()
    const start = performance.now()
    const answer = await run()
    if (sample >= warmUp) times.push(performance.now() - start)
    await after(answer)
  }
  return median(times)
}

/** A worker of the library that idles. */
async function openWorker(url) {
  let ran = () => {}
  const jobs = treadle(url, { signingKey })
  const job = jobs.define('bench', async () => ran())
  await jobs.open()
  const working = jobs.work()
  return {
    async runOne() {
      const isRun = new Promise((resolve) => {
        ran = resolve
      })
      await job.dispatch({})
      await isRun
    },
    status: async () => (await jobs.store()).counts({ job: 'bench' }),
    async close() {
      await jobs.close()
      await working
    },
  }
}

async function openServer(url) {
  const args = ['serve', '--url', url, '--port', '0', '--no-http', '--json']
  const env = { ...process.env, TREADLE_SIGNING_KEY: signingKey }
  const server = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface({ input: server.stdout }), 'line')
  const { ask, socket } = await openClient(JSON.parse(line).tcp.port)
  return {
    ask,
    async close() {
      socket.destroy()
      server.kill('SIGTERM')
      await once(server, 'exit')
    },
  }
}

async function openClient(port) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let received = ''
  const answers = []
  socket.setEncoding('utf8')
  socket.on('data', (text) => {
    received += text
    for (let reply = wholeReply(); reply !== null; reply = wholeReply()) answers.shift()(reply)
  })
  function wholeReply() {
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return null
    const end = headEnd + 4 + Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
    if (received.length < end) return null
    const reply = { status: received.slice(0, received.indexOf('\r\n')), body: received.slice(headEnd + 4, end) }
    received = received.slice(end)
    if (!reply.status.startsWith('200 ')) throw new Error(`The server answered ${reply.status}`)
    return reply
  }
  const ask = (request) =>
    new Promise((resolve) => {
      answers.push(resolve)
      socket.write(`${request}\r\nContent-Length: 0\r\n\r\n`)
    })
  return { ask, socket }
}

const fill = { names: fillNames, 'ended names': endNames, queues: fillQueues }

async function fillNames(_, { ask }, crowd) {
  for (let from = 0; from < crowd; from += perRequest) {
    const jobs = Array.from({ length: Math.min(perRequest, crowd - from) }, (_, index) => ({
      name: `fill/Foo?id=${from + index}`,
    }))
    await ask(`CreateJobs\r\njobs: ${JSON.stringify(jobs)}`)
  }
}

async function endNames(url, server, crowd) {
  await fillNames(url, server, crowd)
  for (let ended = 0; ended < crowd; ) {
    const { jobs } = JSON.parse((await server.ask(`GetJobs\r\nname: fill/*\r\nnumResults: ${perRequest}`)).body)
    await Promise.all(jobs.map(({ jobID }) => server.ask(`FinishJob\r\njobID: ${jobID}`)))
    ended += jobs.length
  }
}

/** By a program that works on none of them. */
async function fillQueues(url, _, crowd) {
  const jobs = treadle(url, { signingKey })
  const job = jobs.define('fill', async () => {})
  await jobs.open()
  for (let from = 0; from < crowd; from += inFlight) {
    const some = Array.from({ length: Math.min(inFlight, crowd - from) }, (_, index) => `customer-${from + index}`)
    await Promise.all(some.map((queue) => job.dispatch({}, { queue })))
  }
  await jobs.close()
}
