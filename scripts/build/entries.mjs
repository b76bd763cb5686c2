// Which modules of src/ become files that others name: programs by an export of the package, shells by its command, and the
// library itself by a path, to begin a thread or a process there.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Modules by their path from src/, without an ending. */
export function entries() {
  const exported = Object.values(manifest.exports).filter((target) => typeof target === 'object')
  const forBrowsers = exported.flatMap(({ browser }) => browser ?? [])
  return {
    exported: exported.map(({ default: file }) => moduleOf(file)),
    forBrowsers: forBrowsers.map(({ default: file }) => moduleOf(file)),
    commands: Object.values(manifest.bin).map(moduleOf),
    begun: modulesBegunByPath(),
  }
}

/** What is named as `ownFile('….js')`: see src/core/files/own-file.ts. */
export function modulesBegunByPath() {
  const sources = readdirSync(join(root, 'src'), { recursive: true }).filter((name) => name.endsWith('.ts'))
  const texts = sources.map((name) => readFileSync(join(root, 'src', name), 'utf8'))
  return [...new Set(texts.flatMap((text) => [...text.matchAll(/\bownFile\('([^']+)\.js'\)/g)].map(([, path]) => path)))].sort()
}

function moduleOf(file) {
  return file.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, '')
}
