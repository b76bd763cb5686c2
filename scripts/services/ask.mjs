import { connect } from 'node:net'

const patienceMs = 5_000

/**
 * Sends a line to a server whose protocol is made of lines, and resolves when its answer begins as expected.
 *
 * @param {string} url
 * @param {string} line
 * @param {string} expected
 * @returns {Promise<void>}
 */
export function ask(url, line, expected) {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: patienceMs })
    socket.on('connect', () => socket.write(line))
    socket.on('data', (answer) => {
      socket.destroy()
      if (`${answer}`.startsWith(expected)) resolve()
      else reject(new Error(`${url} answers ${JSON.stringify(`${answer}`)} to ${JSON.stringify(line)}`))
    })
    socket.on('timeout', () => socket.destroy(new Error(`${url} does not answer`)))
    socket.on('error', reject)
    socket.on('end', () => reject(new Error(`${url} hangs up`)))
  })
}
