import { spawn } from 'node:child_process'
import { once } from 'node:events'

const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])

/**
 * Runs a command to its end. A signal to this process is one to the command, and this process goes on until the command has come
 * to its end in its own way.
 *
 * @param {readonly string[]} command
 * @param {import('node:child_process').SpawnOptions} options
 * @returns {Promise<number | NodeJS.Signals>} its exit code, or the signal that ended it
 */
export async function runCommand([program, ...args], options) {
  const child = spawn(program, args, { stdio: 'inherit', ...options })
  /** @param {NodeJS.Signals} signal */
  const passOn = (signal) => {
    // Ctrl-C on a terminal goes to all of its programs by itself, and twice means something else to some.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of signals) process.on(signal, passOn)
  try {
    const [code, signal] = await once(child, 'exit')
    return signal ?? code
  } finally {
    for (const signal of signals) process.off(signal, passOn)
  }
}
