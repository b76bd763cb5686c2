// Runs npm on the Node that runs this script, so that a matrix of Node versions never mixes two of them.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/**
 * @param {string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
export function npm(args, options = {}) {
  const { program, first, settings } = npmCommand()
  return spawnSync(program, [...first, ...args], { ...settings, ...options })
}

/**
 * The same, while other things go on. Gives the exit code, null where a signal ended it or it could not be started.
 *
 * @param {string[]} args
 * @param {{ readonly cwd: string }} options
 * @returns {Promise<number | null>}
 */
export async function npmMeanwhile(args, options) {
  const { program, first, settings } = npmCommand()
  try {
    const [code] = await once(spawn(program, [...first, ...args], { ...settings, ...options }), 'exit')
    return code
  } catch {
    return null
  }
}

function npmCommand() {
  const settings = { stdio: /** @type {const} */ ('inherit'), env: environmentOfThisNode() }
  const cli = process.env.npm_execpath
  if (cli?.endsWith('npm-cli.js')) return { program: process.execPath, first: [cli], settings }
  // On Windows npm is a batch file, which only a shell can start.
  return { program: 'npm', first: [], settings: { ...settings, shell: process.platform === 'win32' } }
}

/** The environment in which `node`, wherever a script or a shebang says it, is the Node that runs now. */
export function environmentOfThisNode(node = process.execPath) {
  return { ...withHeadersOf(node), ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` }
}

/** What has to be compiled needs headers, which are downloaded where nobody says that they are here. */
function withHeadersOf(node) {
  const installed = join(dirname(node), '..')
  return existsSync(join(installed, 'include/node/node_api.h')) ? { npm_config_nodedir: installed } : {}
}
