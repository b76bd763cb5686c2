// Compiles src/ into dist/, from nothing, so that a deleted source file leaves no stale output behind. The new folder takes the
// old one's place in one step: whatever runs from dist/ meanwhile finds all of it.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildPage } from './build-page.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const fresh = `${root}dist.new-${process.pid}`
const stale = `${root}dist.old-${process.pid}`
const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', fresh]
const compiled = spawnSync(process.execPath, tsc, { cwd: root, stdio: 'inherit' })
if (compiled.status !== 0) {
  rmSync(fresh, { recursive: true, force: true })
  process.exit(compiled.status ?? 1)
}
await buildPage(`${fresh}/server/dashboard/page`)
chmodSync(`${fresh}/cli/main.js`, 0o755)
if (existsSync(`${root}dist`)) renameSync(`${root}dist`, stale)
renameSync(fresh, `${root}dist`)
rmSync(stale, { recursive: true, force: true })
