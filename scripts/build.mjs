// Compiles src/ into build/, module by module, and joins that into the few files of dist/, which are published: from nothing, so
// that a deleted source file leaves no stale output behind. Each new folder takes the old one's place in one step: whatever runs
// from it meanwhile finds all of it.
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundle } from './build/bundle.mjs'
import { joinDeclarations } from './build/declarations.mjs'
import { buildPage } from './build/page.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = `${root}build.new-${process.pid}`
const dist = `${root}dist.new-${process.pid}`
const page = 'server/dashboard/page'

try {
  compile()
  await bundle(modules, dist)
  await joinDeclarations(modules, dist)
  await buildPage(`${dist}/${page}`)
  cpSync(`${dist}/${page}`, `${modules}/${page}`, { recursive: true })
  chmodSync(`${dist}/cli/main.js`, 0o755)
  replace('build', modules)
  replace('dist', dist)
} finally {
  for (const folder of [modules, dist]) rmSync(folder, { recursive: true, force: true })
}

function compile() {
  const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', modules]
  const { status } = spawnSync(process.execPath, tsc, { cwd: root, stdio: 'inherit' })
  if (status === 0) return
  rmSync(modules, { recursive: true, force: true })
  process.exit(status ?? 1)
}

function replace(name, fresh) {
  const stale = `${root}${name}.old-${process.pid}`
  if (existsSync(`${root}${name}`)) renameSync(`${root}${name}`, stale)
  renameSync(fresh, `${root}${name}`)
  rmSync(stale, { recursive: true, force: true })
}
