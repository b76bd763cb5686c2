// What must be there before anything can be measured.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npm } from '../scripts/npm.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const here = fileURLToPath(new URL('.', import.meta.url))

/** Treadle's own packages and its dist/, brought up to date. */
export function prepareTreadle() {
  const { status } = spawnSync(process.execPath, ['scripts/prepare.mjs'], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('Treadle could not be built: see the messages above.')
}

/** The packages of the peers, installed on first use. Where that fails, the rest can be measured without them. */
export function preparePeers(say) {
  if (modifiedAt('node_modules/.package-lock.json') >= modifiedAt('package-lock.json')) return
  say('installing the peers into bench/node_modules (npm ci); where one has to be compiled this takes a minute or two')
  npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: here, stdio: ['ignore', 2, 2] })
}

/** 0 when there is no such file. */
function modifiedAt(path) {
  return statSync(join(here, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}
