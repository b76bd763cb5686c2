import { TreadleError } from '../errors.ts'

/**
 * A file of this library, by its path relative to the library's folder. Paths that end in `.js` are started as a thread or a
 * process; the build creates a file for each of them.
 */
export function ownFile(path: string): URL {
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
