import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { findPrograms, programFolders } from './programs.mjs'

/**
 * Whom a server runs as: database servers refuse to be root. For everybody else it is who runs this script.
 *
 * @type {{ uid?: number, gid?: number }}
 */
export const serverAccount = process.getuid?.() === 0 ? accountOf('nobody') : {}

/**
 * Starts a command of a server, in a folder that its account can enter.
 *
 * @param {readonly string[]} command
 * @param {{ folder: string, logFile: string }} where
 * @returns {import('node:child_process').ChildProcess}
 */
export function startServerCommand(command, { folder, logFile }) {
  const [program, ...args] = [...endingWithParent(), ...command]
  const log = openSync(logFile, 'a')
  try {
    return spawn(program, args, { ...serverAccount, cwd: folder, stdio: ['ignore', log, log] })
  } finally {
    closeSync(log)
  }
}

/** What stands before a command to have the system kill it when its parent is killed, which then cannot do it any more. */
function endingWithParent() {
  const found = process.platform === 'linux' ? findPrograms([['setpriv']], programFolders(process.env)) : null
  return found === null ? [] : [found.setpriv, '--pdeathsig', 'KILL']
}

/** @param {string} name */
function accountOf(name) {
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n')
  const found = accounts.map((line) => line.split(':')).find(([known]) => known === name)
  if (found === undefined) throw new Error(`As root the servers are run as the user ${name}, who is not in /etc/passwd.`)
  return { uid: Number(found[2]), gid: Number(found[3]) }
}
