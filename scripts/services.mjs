// Starts the servers that tests and measurements need, and ends them with the command that it was given. See --help.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseCommandLine, usage } from './services/command-line.mjs'
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
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  const told = new Promise((resolve) => {
    for (const signal of signals) process.on(signal, resolve)
  })
  const names = only ?? ['postgres', 'mariadb', 'redis', 'beanstalkd']
  const services = await startServices({ names, optional: only === null ? ['mysql'] : [], durable, say })
  try {
    if (command.length > 0) return await run(command, services.env, told)
    for (const [name, value] of Object.entries(services.env)) console.log(`export ${name}='${value}'`)
    say('they run until Ctrl-C')
    const alive = setInterval(() => {}, 60_000)
    await told
    clearInterval(alive)
    return 0
  } finally {
    await services.stop()
  }
}

/** Ends as the command ends. A signal is passed on to it, and the servers stay for as long as it needs to come to its end. */
async function run([program, ...args], variables, told) {
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...variables } })
  told.then((signal) => child.kill(signal))
  const [code, signal] = await once(child, 'exit')
  if (signal !== null) say(`${program} was ended by ${signal}`)
  return code ?? 1
}

function say(message) {
  process.stderr.write(`services: ${message}\n`)
}
