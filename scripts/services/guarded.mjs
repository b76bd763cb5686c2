import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * Starts servers as children of a process that ends them with this one.
 *
 * @param {import('./server-group.mjs').Order} order
 */
export async function startGuard(order) {
  const guard = fork(fileURLToPath(new URL('./guard.mjs', import.meta.url)), {
    // In a session of its own: Ctrl-C is for the programs that use the servers, and these have to outlive them.
    detached: true,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exit = once(guard, 'exit')
  guard.send(order)
  const answer = await Promise.race([
    once(guard, 'message').then(([message]) => /** @type {import('./guard.mjs').Answer} */ (message)),
    exit.then(([code, signal]) => ({ problem: `The process that guards the servers ended with ${signal ?? code}` })),
  ])
  const stop = async () => {
    if (guard.connected) guard.disconnect()
    guard.ref()
    await exit
  }
  if ('problem' in answer) {
    await stop()
    throw new Error(answer.problem)
  }
  // A process that has nothing else to do may end, and the servers with it.
  guard.unref()
  guard.channel?.unref()
  return { descriptionFile: answer.descriptionFile, stop }
}
