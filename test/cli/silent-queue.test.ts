import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { canStart, ownServices } from '../services.ts'
import { Project } from './project.ts'

const jobsText = `import { jobs } from 'treadle'
export const quick = jobs.define('quick', () => {})
`

describe('Ctrl-C while the queue does not answer', { timeout: 120_000 }, () => {
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

  it.skipIf(!canStart('redis'))('ends a worker that cannot return its jobs, when pressed twice', async () => {
    const services = await ownServices(['redis'])
    onTestFinished(() => services.stop())
    const project = new Project({ 'treadle.config.ts': configOf(services.urls.redis), 'jobs/quick.ts': jobsText })
    const worker = project.start(['work'])
    await worker.says('working on')
    const pid = services.servers.redis.pid as number
    process.kill(pid, 'SIGSTOP')
    onTestFinished(() => void process.kill(pid, 'SIGCONT'))
    worker.child.kill('SIGINT')
    await worker.says('stopping')
    worker.child.kill('SIGINT')
    expect(await worker.ended).toMatchObject({ code: 130, err: expect.stringContaining('aborting') })
  })
})

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
