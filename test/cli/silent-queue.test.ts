import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { canStart, ownServices } from '../services.ts'
import { Project } from './project.ts'

const jobsText = `import { jobs } from 'treadle'
export const quick = jobs.define('quick', () => {})
`

describe('Ctrl-C while the queue does not answer', () => {
  it.each([['work'], ['daemon'], ['run'], ['serve', '--port', '0', '--http-port', '0'], ['events']])(
    'ends %s at once while it opens the queue',
    async (...args) => {
      await using server = await silentServer()
      const project = new Project({ 'treadle.config.ts': configOf(server.url), 'jobs/quick.ts': jobsText })
      const command = project.start(args)
      await server.connected
      command.child.kill('SIGINT')
      // Well before the connection is given up, which would end it with 1.
      expect(await command.ended).toMatchObject({ code: 130, err: '' })
    },
  )

  it('ends a worker process at once while it opens the queue', async () => {
    await using server = await silentServer()
    const configText = `
      const url = process.argv.includes('--supervised') ? '${server.url}' : 'sqlite:jobs.db'
      export default { url, signingKey: 'a secret of more than thirty-two characters' }`
    const project = new Project({ 'treadle.config.ts': configText, 'jobs/quick.ts': jobsText })
    const command = project.start(['work', '--processes', '1', '--json'])
    await server.connected
    command.child.kill('SIGINT')
    const { code, out } = await command.ended
    // Well before the connection is given up, which would end it with 1.
    expect([code, eventsIn(out)]).toEqual([
      0,
      expect.arrayContaining([expect.objectContaining({ event: 'child:ended', code: 130, failure: null })]),
    ])
  })

  it.skipIf(!canStart('redis'))('ends a worker once all calls together have had their time', async () => {
    const worker = await workerOnStoppedServer()
    worker.child.kill('SIGINT')
    expect(await worker.ended).toMatchObject({ code: 0, err: expect.stringContaining(unanswered) })
  })

  it.skipIf(!canStart('redis'))('ends a worker that cannot return its jobs, when pressed twice', async () => {
    const worker = await workerOnStoppedServer()
    worker.child.kill('SIGINT')
    await worker.says('stopping')
    worker.child.kill('SIGINT')
    expect(await worker.ended).toMatchObject({ code: 130, err: expect.stringMatching(`aborting[^]*${unanswered}`) })
  })
})

const unanswered = 'the queue did not answer during the shutdown'

async function workerOnStoppedServer() {
  const services = await ownServices(['redis'])
  onTestFinished(() => services.stop())
  const project = new Project({ 'treadle.config.ts': configOf(services.urls.redis), 'jobs/quick.ts': jobsText })
  const worker = project.start(['work'])
  await worker.says('working on')
  const pid = services.servers.redis.pid as number
  process.kill(pid, 'SIGSTOP')
  onTestFinished(() => void process.kill(pid, 'SIGCONT'))
  return worker
}

function eventsIn(out: string): readonly unknown[] {
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

function configOf(url: string): string {
  return `export default { url: '${url}', signingKey: 'a secret of more than thirty-two characters' }`
}

/** A PostgreSQL server that accepts connections and never says anything. */
async function silentServer() {
  let connect = () => {}
  const connected = new Promise<void>((resolve) => {
    connect = resolve
  })
  const server = createServer((socket) => {
    socket.on('error', () => {})
    connect()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    connected,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}
