// Starts the servers that tests and measurements need, and ends them with the command that it was given. See --help.
import { constants } from 'node:os'
import { parseCommandLine, usage } from './services/command-line.mjs'
import { testServers } from './services/engines.mjs'
import { runCommand } from './services/run-command.mjs'
import { startServices } from './services/start.mjs'

try {
  const { help, ...asked } = parseCommandLine(process.argv.slice(2))
  if (help) console.log(usage)
  else process.exitCode = await serve(asked)
} catch (thrown) {
  console.error(thrown.message)
  process.exitCode = 1
}

async function serve({ only, durable, command }) {
  const wanted = only === null ? testServers : { names: only }
  const services = await startServices({ ...wanted, durable, say })
  try {
    for (const message of services.missing) say(`one server is left out, and its tests are skipped. ${message}`)
    if (command.length === 0) return await waitForCtrlC(services)
    const ending = await runCommand(command, { env: { ...process.env, ...services.variables } })
    // As a shell reports it.
    return typeof ending === 'number' ? ending : 128 + constants.signals[ending]
  } finally {
    await services.stop()
  }
}

async function waitForCtrlC({ variables }) {
  const told = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, resolve)
  })
  for (const [name, value] of Object.entries(variables)) console.log(`export ${name}='${value}'`)
  say('ready, until Ctrl-C')
  const keepAlive = setInterval(() => {}, 60_000)
  await told
  clearInterval(keepAlive)
  return 0
}

function say(message) {
  process.stderr.write(`services: ${message}\n`)
}
