import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the ports that systems give to outgoing connections: a client that keeps trying to reach a stopped server must not be
// given that server's port as its own, since it would then be connected to itself and the server could not come back.
const first = 20_000
const last = 32_767

/** A port of 127.0.0.1 on which nobody listens. */
export async function freePort() {
  for (;;) {
    const port = randomInt(first, last + 1)
    if (await isFree(port)) return port
  }
}

/** @param {number} port */
async function isFree(port) {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
