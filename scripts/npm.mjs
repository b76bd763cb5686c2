// Runs npm on the Node that runs this script, so that a matrix of Node versions never mixes two of them.
import { spawnSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'

/**
 * @param {string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
export function npm(args, options = {}) {
  const cli = process.env.npm_execpath
  const settings = { stdio: /** @type {const} */ ('inherit'), env: environmentOfThisNode(), ...options }
  if (cli?.endsWith('npm-cli.js')) return spawnSync(process.execPath, [cli, ...args], settings)
  // On Windows npm is a batch file, which only a shell can start.
  return spawnSync('npm', args, { ...settings, shell: process.platform === 'win32' })
}

/** The environment in which `node`, wherever a script or a shebang says it, is the Node that runs now. */
export function environmentOfThisNode(node = process.execPath) {
  return { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` }
}
