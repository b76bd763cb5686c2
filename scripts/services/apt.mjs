import { spawnSync } from 'node:child_process'
import { findPrograms, programFolders } from './programs.mjs'

/**
 * Installs a package, and does not start the server in it: policy-rc.d is what Debian's packages ask before they start one. It is
 * put there only for as long as it takes. One installation at a time, so that none takes away what another still needs.
 *
 * @param {string} debianPackage
 * @param {NodeJS.ProcessEnv} env
 * @param {(message: string) => void} say
 * @returns {string | null} what was in the way; null when it is installed
 */
export function aptInstall(debianPackage, env, say) {
  if (findPrograms([['apt-get', 'dpkg', 'flock']], programFolders(env)) === null) return 'this is no Debian or Ubuntu'
  if (process.getuid?.() !== 0) return 'only root can install packages'
  say(`installing ${debianPackage} (apt-get)`)
  const { status, stdout, stderr } = spawnSync('flock', ['/var/lock/treadle-services', 'sh', '-c', script, 'sh', debianPackage], {
    env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
  })
  if (status === 0) return null
  return `it failed with ${`${stdout}${stderr}`.trimEnd().split('\n').slice(-3).join(' | ')}`
}

/**
 * Whether this machine may install packages, and its release has this one.
 *
 * @param {string} debianPackage
 * @param {NodeJS.ProcessEnv} env
 */
export function isInstallable(debianPackage, env) {
  if (process.getuid?.() !== 0) return false
  return spawnSync('apt-cache', ['show', debianPackage], { env, stdio: 'ignore' }).status === 0
}

const script = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > "$policy"
  chmod 755 "$policy"
fi
install() { apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$1"; }
install "$1" || { apt-get -o DPkg::Lock::Timeout=300 update && install "$1"; }
`
