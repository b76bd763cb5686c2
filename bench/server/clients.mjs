// The clients of one measurement: each has a connection, and sends its next request when the last one is answered. They only write
// and read bytes, because they share the machine with the server that is measured.
import { once } from 'node:events'
import { connect } from 'node:net'

const { port, connections, jobs, nameEach = false } = JSON.parse(process.argv[2])
const clients = await Promise.all(Array.from({ length: connections }, openClient))
const data = JSON.stringify({ to: 'ada@example.com', subject: 'Welcome', text: 'x'.repeat(100) })
const held = clients.map(() => [])

// Not counted: the first requests of a server are its slowest.
await each(500, (ask) => ask(createJob('warm-up')))
await each(500, async (ask) => ask(finishJob(jobIDOf(await ask(getJob('warm-up'))))))

let made = 0
/** One name for all jobs, or one for each of them, as where a name says what it is about. */
const nextName = () => (nameEach ? `SendEmail/id=${++made}` : 'SendEmail')
const wanted = nameEach ? 'SendEmail*' : 'SendEmail'

const figures = {
  'CreateJob/s': await rate((ask) => ask(createJob(nextName()))),
  'GetJob/s': await rate(async (ask, index) => held[index].push(jobIDOf(await ask(getJob(wanted))))),
  'FinishJob/s': await rate((ask, index) => ask(finishJob(nextHeld(index)))),
}
process.send(figures)
for (const { socket } of clients) socket.destroy()
process.disconnect()

function createJob(name) {
  return `CreateJob\r\nname: ${name}\r\ndata: ${data}\r\nContent-Length: 0\r\n\r\n`
}

function getJob(name) {
  return `GetJob\r\nname: ${name}\r\nContent-Length: 0\r\n\r\n`
}

function finishJob(jobID) {
  return `FinishJob\r\njobID: ${jobID}\r\nContent-Length: 0\r\n\r\n`
}

function jobIDOf(reply) {
  return Number(/"jobID":(\d+)/.exec(reply)[1])
}

/** Each client ends what it was handed; one that has nothing left takes from another. */
function nextHeld(index) {
  const own = held[index].length > 0 ? held[index] : held.find((list) => list.length > 0)
  return own.pop()
}

async function openClient() {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let received = ''
  let answer
  socket.setEncoding('latin1')
  socket.on('data', (text) => {
    received += text
    if (!isWhole(received)) return
    const reply = received
    received = ''
    if (!reply.startsWith('200 ')) throw new Error(`The server answered ${reply.slice(0, reply.indexOf('\r\n'))}`)
    answer(reply)
  })
  const ask = (request) =>
    new Promise((resolve) => {
      answer = resolve
      socket.write(request)
    })
  return { socket, ask }
}

function isWhole(reply) {
  const headEnd = reply.indexOf('\r\n\r\n')
  return headEnd >= 0 && reply.length >= headEnd + 4 + Number(/content-length: (\d+)/i.exec(reply)?.[1] ?? 0)
}

async function rate(call) {
  const start = performance.now()
  await each(jobs, call)
  return Math.round(jobs / ((performance.now() - start) / 1_000))
}

async function each(count, call) {
  let left = count
  await Promise.all(
    clients.map(async ({ ask }, index) => {
      while (left-- > 0) await call(ask, index)
    }),
  )
}
