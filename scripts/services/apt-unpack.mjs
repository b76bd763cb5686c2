import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findPrograms, programFolders } from './programs.mjs'

/** Packages that were unpacked here, each in a folder of its own. With the installed npm packages, so that a checkout keeps them. */
const usualHome = fileURLToPath(new URL('../../node_modules/.cache/treadle-servers', import.meta.url))

/**
 * The folder with the programs of an unpacked package.
 *
 * @param {string} debianPackage
 * @param {string} [home]
 */
export function unpackedPrograms(debianPackage, home = usualHome) {
  return join(home, debianPackage, 'programs')
}

/**
 * Fetches a package that this release of Debian does not have from its backports, and unpacks it beside the system. Nothing is
 * installed. The machine's own sources say where packages come from, and their signatures are checked as always.
 *
 * @param {string} debianPackage
 * @param {NodeJS.ProcessEnv} env
 * @param {(message: string) => void} say
 * @param {string} [home]
 * @returns {string | null} what was in the way; null when it is unpacked
 */
export function aptUnpack(debianPackage, env, say, home = usualHome) {
  if (existsSync(unpackedPrograms(debianPackage, home))) return null
  if (findPrograms([['apt-get', 'dpkg-deb']], programFolders(env)) === null) return 'this is no Debian or Ubuntu'
  say(`fetching ${debianPackage} (apt-get, from backports)`)
  const settings = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' }, encoding: /** @type {const} */ ('utf8') }
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', debianPackage, join(home, debianPackage)], settings)
  if (status === 0) return null
  return `it failed with ${`${stdout}${stderr}`.trimEnd().split('\n').slice(-3).join(' | ')}`
}

// Programs are started by scripts that name the folders of the libraries that were unpacked with them; the rest are the system's.
const script = `
set -euo pipefail
package=$1; folder=$2; new=$folder.$$; apt=$new/apt; root=$new/root
trap 'rm -rf "$new"' EXIT
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/empty" "$root" "$new/programs"
. /etc/os-release
[ "\${ID:-}" = debian ] || { echo "only Debian has backports of it"; exit 1; }
sources=$(ls /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true)
uri=$(sed -n 's/^URIs: *//p;s/^deb \\(\\[[^]]*\\] \\)\\?\\([^ ]*\\).*/\\2/p' $sources | grep '/debian/*$' | head -n 1)
signed=signed-by=/usr/share/keyrings/debian-archive-keyring.gpg
for release in "$VERSION_CODENAME" "$VERSION_CODENAME-backports"; do echo "deb [$signed] $uri $release main"; done > "$apt/sources.list"
options=(-q -y -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o Dir::Etc::sourcelist="$apt/sources.list"
  -o Dir::Etc::sourceparts="$apt/empty" -o Dir::Etc::preferencesparts="$apt/empty" -o APT::Install-Recommends=false
  -o APT::Sandbox::User=root -o Debug::NoLocking=1)
apt-get "\${options[@]}" update
apt-get "\${options[@]}" -t "$VERSION_CODENAME-backports" --download-only install "$package"
for deb in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$deb" "$root"; done
libraries=$(find "$root" -name '*.so*' -printf '%h\\n' | sort -u | sed "s#^$new#$folder#" | paste -sd:)
for program in "$root"/usr/bin/* "$root"/usr/sbin/*; do
  [ -x "$program" ] || continue
  script=$new/programs/$(basename "$program")
  printf '#!/bin/sh\\n%s\\nexec "%s" "$@"\\n' "\${libraries:+export LD_LIBRARY_PATH="$libraries"}" "$folder\${program#"$new"}" > "$script"
  chmod 755 "$script"
done
rm -rf "$apt"
# Another run may have been quicker.
mv -T "$new" "$folder" 2>/dev/null || [ -d "$folder/programs" ]
`
