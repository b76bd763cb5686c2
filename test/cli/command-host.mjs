// Runs commands of the built command line, one after the other in this process, each with modules of its own: most of the time of
// a short command goes into starting Node and compiling what it needs.
import { createRequire } from 'node:module'
import { ModuleGraph } from './module-graph.mjs'

const built = new URL('../../dist/', import.meta.url)
const { cache } = createRequire(import.meta.url)
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

// A command that is done ends what its jobs have left open in this way.
process.exit = () => {}
let last = Promise.resolve()
process.on('message', ({ id, args, folder, env }) => {
  last = last.then(async () => process.send({ id, ...(await run(args, folder, env)) }))
})
process.on('disconnect', () => process.reallyExit())

async function run(args, folder, env) {
  const before = { ...process.env }
  const streams = [process.stdout, process.stderr]
  const written = streams.map(capture)
  process.argv = [process.execPath, new URL('cli/main.js', built).pathname, ...args]
  process.exitCode = undefined
  Object.assign(process.env, env)
  process.chdir(folder)
  try {
    await new ModuleGraph(built.href).import(new URL('cli/main.js', built).href)
    return { code: process.exitCode, out: written[0].text, err: written[1].text }
  } finally {
    for (const name of Object.keys(env)) delete process.env[name]
    Object.assign(process.env, before)
    for (const { restore } of written) restore()
    for (const stream of streams) stream.removeAllListeners('error')
    for (const signal of signals) process.removeAllListeners(signal)
    // Files of the project, which may have been changed when the next command loads them.
    for (const path of Object.keys(cache)) if (path.startsWith(folder)) delete cache[path]
  }
}

function capture(stream) {
  const captured = { text: '', restore: () => delete stream.write }
  stream.write = (text, ...more) => {
    captured.text += text
    more.at(-1)?.()
    return true
  }
  return captured
}
