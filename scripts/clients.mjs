// Installs the database clients that only tests use, when their lock file has changed. One of them is compiled.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmMeanwhile } from './npm.mjs'

const folder = fileURLToPath(new URL('../test/clients', import.meta.url))

/** Gives what went wrong, or null. */
export async function installClients() {
  if (modifiedAt('node_modules/.package-lock.json') >= modifiedAt('package-lock.json')) return null
  process.stderr.write(
    'clients: installing database clients for the tests; better-sqlite3 is compiled, which takes some minutes\n',
  )
  const code = await npmMeanwhile(['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder })
  return code === 0 ? null : 'test/clients could not be installed: see its message above. It needs a C++ compiler and Python.'
}

/** 0 when there is no such file. */
function modifiedAt(path) {
  return statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}
