import { readFileSync } from 'node:fs'

/**
 * Whom a server runs as: database servers refuse to be root. For everybody else it is who runs this script.
 *
 * @returns {{ uid?: number, gid?: number }}
 */
export function serverAccount() {
  if (process.getuid?.() !== 0) return {}
  const nobody = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === 'nobody')
  if (nobody === undefined) throw new Error('As root the servers are run as the user nobody, and there is none in /etc/passwd.')
  return { uid: Number(nobody[2]), gid: Number(nobody[3]) }
}
