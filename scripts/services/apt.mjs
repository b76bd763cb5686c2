import { spawnSync } from 'node:child_process'
import { findPrograms } from './programs.mjs'

/**
 * Why apt-get can not install anything here; null when it can.
 *
 * @param {readonly string[]} folders
 */
export function aptObstacle(folders) {
  if (findPrograms([['apt-get', 'dpkg', 'flock']], folders) === null) return 'this is no Debian or Ubuntu'
  return process.getuid?.() === 0 ? null : 'only root can install packages'
}

/**
 * Installs packages, and starts none of the servers in them: policy-rc.d is what Debian's packages ask before they start one.
 * It is put there only for as long as it takes. One installation at a time, so that none takes away what another still needs.
 *
 * @param {readonly string[]} packages
 * @param {NodeJS.ProcessEnv} env
 */
export function aptInstall(packages, env) {
  const settings = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' }, encoding: /** @type {const} */ ('utf8') }
  const installed = spawnSync('flock', ['/var/lock/treadle-services', 'sh', '-c', script, 'sh', ...packages], settings)
  if (installed.status === 0) return
  const said = `${installed.stdout ?? ''}${installed.stderr ?? installed.error?.message}`.trimEnd().split('\n').slice(-5)
  throw new Error(`apt-get install ${packages.join(' ')} failed:\n  ${said.join('\n  ')}`)
}

const script = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > "$policy" && chmod 755 "$policy"
fi
install() { apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"; }
install "$@" || { apt-get -o DPkg::Lock::Timeout=300 update && install "$@"; }
`
