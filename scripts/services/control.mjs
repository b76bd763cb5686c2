// How any process stops and starts servers that belong to the guard: a line with what is asked for, a line with how it went.
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'

/** @typedef {'start' | 'stop' | 'restart' | 'kill'} Action */

const actions = ['start', 'stop', 'restart', 'kill']

/**
 * @param {string} path of the socket
 * @param {ReadonlyMap<string, Record<Action, () => Promise<void>>>} servers
 * @param {() => void} changed called before an action is answered
 */
export async function serveControl(path, servers, changed) {
  /** @type {Map<string, Promise<void>>} */
  const turns = new Map()
  const server = createServer((socket) => {
    socket.on('error', () => {})
    createInterface({ input: socket }).once('line', async (line) => {
      const { name, action } = JSON.parse(line)
      const turn = (turns.get(name) ?? Promise.resolve()).then(() => act(name, action))
      turns.set(
        name,
        turn.catch(() => {}),
      )
      const problem = await turn.then(
        () => null,
        (thrown) => thrown.message,
      )
      changed()
      socket.end(`${JSON.stringify({ problem })}\n`)
    })
  })
  server.listen(path)
  await once(server, 'listening')
  chmodSync(path, 0o600)

  /**
   * @param {string} name
   * @param {Action} action
   */
  async function act(name, action) {
    const target = servers.get(name)
    if (target === undefined || !actions.includes(action)) throw new Error(`There is no ${action} of ${name} here`)
    await target[action]()
  }
}

/**
 * @param {string} path of the socket
 * @param {string} name
 * @param {Action} action
 */
export async function control(path, name, action) {
  const socket = connect(path)
  await once(socket, 'connect')
  socket.write(`${JSON.stringify({ name, action })}\n`)
  const lines = createInterface({ input: socket })
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close')])
  if (line === undefined) throw new Error(`The guard of the services ended before ${name} was through with: ${action}`)
  const { problem } = JSON.parse(line)
  if (problem !== null) throw new Error(problem)
}
