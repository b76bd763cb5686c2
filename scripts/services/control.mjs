// How any process stops and starts servers that belong to the guard: a line with what is asked for, a line with how it went.
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'

/**
 * @typedef {'start' | 'stop' | 'restart' | 'kill'} Action
 * @typedef {{ name: string, action: Action }} Request
 */

/**
 * @param {string} path of the socket
 * @param {(request: Request) => Promise<void>} act
 */
export async function serveControl(path, act) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    createInterface({ input: socket }).once('line', async (line) => {
      const problem = await act(JSON.parse(line)).then(
        () => null,
        (thrown) => thrown.message,
      )
      socket.end(`${JSON.stringify({ problem })}\n`)
    })
  })
  server.listen(path)
  await once(server, 'listening')
  chmodSync(path, 0o600)
}

/**
 * @param {string} path of the socket
 * @param {Request} request
 */
export async function control(path, request) {
  const socket = connect(path)
  await once(socket, 'connect')
  socket.write(`${JSON.stringify(request)}\n`)
  const lines = createInterface({ input: socket })
  const [answer] = await Promise.race([once(lines, 'line'), once(lines, 'close')])
  if (answer === undefined) throw new Error(`The services ended before this was done: ${request.action} ${request.name}`)
  const { problem } = JSON.parse(answer)
  if (problem !== null) throw new Error(problem)
}
