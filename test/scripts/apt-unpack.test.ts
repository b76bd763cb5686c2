import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { aptUnpack, unpackedPrograms } from '../../scripts/services/apt-unpack.mjs'
import { scratchFolder } from '../processes/database.ts'

let folder: ReturnType<typeof scratchFolder>
beforeEach(() => {
  folder = scratchFolder()
  mkdirSync(folder.file('bin'))
})
afterEach(() => folder.remove())

const isDebian = existsSync('/etc/os-release') && /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'))

/** Stands for apt-get, which would ask the machine's mirror: what it is asked for is written down. */
const fetches = `
echo "$*" >> "$ASKED"
case "$*" in *--download-only*)
  for option in "$@"; do case $option in Dir::Cache=*) : > "\${option#Dir::Cache=}/archives/server.deb" ;; esac; done
esac`
/** Stands for dpkg-deb: a package with a program and a library. */
const unpacks = `mkdir -p "$3/usr/bin" "$3/usr/lib"; : > "$3/usr/lib/libserver.so.1"
printf '#!/bin/sh\\necho "$1 with $LD_LIBRARY_PATH"\\n' > "$3/usr/bin/server"; chmod 755 "$3/usr/bin/server"`

describe.skipIf(!isDebian)('a package that this release does not have', () => {
  test('is unpacked beside the system from backports, once, and its programs find their libraries', () => {
    const env = machine({ 'apt-get': fetches, 'dpkg-deb': unpacks })
    const home = folder.file('home')
    expect(aptUnpack('server', env, () => {}, home)).toBeNull()
    const program = join(unpackedPrograms('server', home), 'server')
    expect(execFileSync(program, ['started'], { encoding: 'utf8' })).toBe(`started with ${home}/server/root/usr/lib\n`)
    expect(readFileSync(folder.file('asked'), 'utf8')).toMatch(/-backports --download-only install server\n$/)
    writeFileSync(folder.file('asked'), '')
    expect(aptUnpack('server', env, () => {}, home)).toBeNull()
    expect(readFileSync(folder.file('asked'), 'utf8')).toBe('')
  })

  test('is missing where it cannot be fetched, with what apt-get said, and is looked for again the next time', () => {
    const home = folder.file('home')
    const failing = machine({ 'apt-get': 'echo "no network"; exit 100', 'dpkg-deb': unpacks })
    expect(aptUnpack('server', failing, () => {}, home)).toContain('no network')
    expect(existsSync(unpackedPrograms('server', home))).toBe(false)
    expect(aptUnpack('server', machine({ 'apt-get': fetches, 'dpkg-deb': unpacks }), () => {}, home)).toBeNull()
  })
})

function machine(programs: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder.file('bin'), name), `#!/bin/bash\n${text}\n`, { mode: 0o755 })
  }
  return { PATH: `${folder.file('bin')}:${process.env.PATH}`, ASKED: folder.file('asked') }
}
