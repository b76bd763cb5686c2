import { engineNames } from './engines.mjs'

export const usage = `npm run services -- [options] [command …]
Starts the servers that tests need on 127.0.0.1, runs the command with their URLs in its environment, and ends them
with it. Without a command they run until Ctrl-C. CONTRIBUTING.md says where the servers come from.
  --only a,b   only these: ${engineNames.join(', ')}
  --durable    every commit waits for the disk, as in production: for measurements
  --help`

/**
 * @param {readonly string[]} args
 * @returns {{ help: boolean, durable: boolean, only: import('./engines.mjs').EngineName[] | null, command: readonly string[] }}
 */
export function parseCommandLine(args) {
  const asked = { help: false, durable: false, only: /** @type {import('./engines.mjs').EngineName[] | null} */ (null) }
  for (let at = 0; at < args.length; at++) {
    const [option, attached] = args[at].split(/=(.*)/s)
    if (option === '--') return { ...asked, command: args.slice(at + 1) }
    if (!option.startsWith('-')) return { ...asked, command: args.slice(at) }
    if (option === '--help') asked.help = true
    else if (option === '--durable') asked.durable = true
    else if (option === '--only') asked.only = parseNames(attached ?? args[++at])
    else throw new Error(`${option} is not known. See --help; what belongs to the command stands after --`)
  }
  return { ...asked, command: [] }
}

/** @param {string | undefined} text */
function parseNames(text) {
  const names = (text ?? '').split(',').map((name) => name.trim())
  const unknown = names.filter((name) => !engineNames.some((known) => known === name))
  if (unknown.length > 0) throw new Error(`--only knows ${engineNames.join(', ')}, not "${unknown.join('", "')}"`)
  return /** @type {import('./engines.mjs').EngineName[]} */ (names)
}
