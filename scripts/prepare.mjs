// Makes a checkout ready to run: the installed packages of the lock file, and build/ and dist/ built from src/. Does nothing when both are fresh.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npm } from './npm.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

requireNode()
if (needsInstall()) install()
if (needsBuild()) build()

function requireNode() {
  const wanted = manifest.engines.node.replace('>=', '').split('.').map(Number)
  const running = process.versions.node.split('.').map(Number)
  const tooOld = running[0] < wanted[0] || (running[0] === wanted[0] && running[1] < wanted[1])
  if (tooOld)
    fail(`Node ${wanted.join('.')} or newer is needed, and this is ${process.versions.node}. Install a newer Node and run again.`)
}

// npm writes its own copy of the lock file last, so a broken install leaves none behind.
function needsInstall() {
  return modifiedAt('node_modules/.package-lock.json') < modifiedAt('package-lock.json')
}

function install() {
  say('installing packages (npm ci)')
  const { status, error } = npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root })
  if (error) fail(`npm did not start: ${error.message}. Install npm, or run "npm ci" by hand.`)
  if (status !== 0) fail('npm ci failed: see its message above. Mend that, or run "npm ci" by hand, and run again.')
}

function needsBuild() {
  const promised = [...Object.values(manifest.bin), ...Object.values(manifest.exports).map((entry) => entry.default)]
  const built = ['build', ...promised.filter(Boolean), ...filesUnder('build'), ...filesUnder('dist')]
  const sources = ['tsconfig.json', 'tsconfig.build.json', ...filesUnder('scripts/build'), ...filesUnder('src')]
  return Math.min(...built.map(modifiedAt)) < Math.max(...sources.map(modifiedAt))
}

function build() {
  say('building build/ and dist/')
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) fail('the build failed: see the messages above.')
}

/** Folders are listed too: the time of a folder tells that a file in it was deleted. */
function filesUnder(folder) {
  if (modifiedAt(folder) === 0) return []
  const inside = readdirSync(join(root, folder), { withFileTypes: true })
  return [
    folder,
    ...inside.flatMap((entry) => (entry.isDirectory() ? filesUnder(`${folder}/${entry.name}`) : `${folder}/${entry.name}`)),
  ]
}

/** 0 when there is no such file. */
function modifiedAt(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function say(message) {
  process.stderr.write(`prepare: ${message}\n`)
}

function fail(message) {
  say(message)
  process.exit(1)
}
