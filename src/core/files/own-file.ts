import { existsSync } from 'node:fs'
import { TreadleError } from '../errors.ts'

/** A file or folder of this library that must exist. A path that ends in `.js` is started as a thread or a process; the build creates a file for each of them. */
export function ownFile(path: OwnPath): URL {
  const file = libraryFile(path)
  if (isBuilt(import.meta.url) && !exists[path]()) throw new TreadleError('PACKAGE_BUNDLED', missingText(file))
  return file
}

/** A file of this library by its path relative to the library's folder, whether or not it exists. */
export function libraryFile(path: string): URL {
  const folder = ownFolder()
  if (folder === undefined) throw new TreadleError('PACKAGE_BUNDLED', bundledText(import.meta.url))
  return new URL(path, folder)
}

/**
 * The folder of this library, built or not: the build keeps this module in a file of its own, at the same path. Undefined if a
 * bundler has merged the library into a file of the program, since its other files are then missing.
 */
export function ownFolder(module: string | undefined = import.meta.url): URL | undefined {
  const isItself = module !== undefined && /\/core\/files\/own-file\.[jt]s$/.test(new URL(module).pathname)
  return isItself ? new URL('../../', module) : undefined
}

export type OwnPath = keyof typeof exists

/**
 * Each path is written out in a call that reads it: tools that copy a program together with the files that it needs (Nitro, the
 * standalone output of Next.js, Vercel) find them by that.
 */
const exists = {
  'app/loading/isolate-entry.js': () => existsSync(new URL('../../app/loading/isolate-entry.js', import.meta.url)),
  'engines/sqlite/thread/thread.js': () => existsSync(new URL('../../engines/sqlite/thread/thread.js', import.meta.url)),
  'isolation/parent-watch-thread.js': () => existsSync(new URL('../../isolation/parent-watch-thread.js', import.meta.url)),
  'manager/module-entry.js': () => existsSync(new URL('../../manager/module-entry.js', import.meta.url)),
  'server/bedrock/query/query-process.js': () =>
    existsSync(new URL('../../server/bedrock/query/query-process.js', import.meta.url)),
  'server/dashboard/page/': () => existsSync(new URL('../../server/dashboard/page/', import.meta.url)),
} as const

function isBuilt(module: string): boolean {
  return module.endsWith('.js')
}

function missingText(file: URL): string {
  return `The file ${file.pathname} of Treadle is missing. If a tool has copied the program to where it runs, let it copy the whole package: node_modules/treadle/dist`
}

function bundledText(module: string | undefined): string {
  const where = module === undefined ? 'a bundle' : module
  return `Treadle was bundled into ${where}, and the files that it needs are not there. Leave it out of the bundle: ${lines.join('; ')}`
}

/** What to add to the configuration of each bundler. */
const lines = [
  "Next: serverExternalPackages: ['treadle'] in next.config",
  "esbuild, tsup and Rollup: external: ['treadle']",
  "webpack: externals: { treadle: 'module treadle' }",
  "Vite: ssr: { external: ['treadle'] }",
]
