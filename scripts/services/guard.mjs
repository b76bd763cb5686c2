// The process that the servers belong to. It ends them when the process that started it stops or dies in whatever way: then the
// channel between the two closes.
import { ServerGroup } from './server-group.mjs'

/** @typedef {{ descriptionFile: string } | { problem: string }} Answer */

const group = new ServerGroup()
let ending = false

process.once('message', async (order) => {
  try {
    answer({ descriptionFile: await group.start(/** @type {import('./server-group.mjs').Order} */ (order)) })
  } catch (thrown) {
    answer({ problem: thrown.message })
  }
})
process.once('disconnect', end)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end)
process.on('uncaughtException', (thrown) => {
  console.error(thrown)
  void end()
})

/** @param {Answer} message */
function answer(message) {
  if (process.connected) process.send(message)
}

async function end() {
  if (ending) return
  ending = true
  try {
    await group.end()
  } catch (thrown) {
    console.error(thrown)
  }
  process.exit()
}
