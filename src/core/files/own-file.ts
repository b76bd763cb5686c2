import { TreadleError } from '../errors.ts'

/**
 * A file of this library, by its path from the library's folder. What is named here by a text that ends in `.js` is begun by its
 * path, as a thread or a process: the build makes a file of each.
 */
export function ownFile(path: string): URL {
  const folder = ownFolder()
  if (folder === undefined) throw new TreadleError('PACKAGE_BUNDLED', bundledText(import.meta.url))
  return new URL(path, folder)
}

/**
 * The folder with all of this library, built or not: the build keeps this module in a file of its own, under its own path.
 * Undefined where that is not so, because a bundler has put the library into a file of the program: the other files are not there.
 */
export function ownFolder(module: string | undefined = import.meta.url): URL | undefined {
  const isItself = module !== undefined && /\/core\/files\/own-file\.[jt]s$/.test(new URL(module).pathname)
  return isItself ? new URL('../../', module) : undefined
}

function bundledText(module: string | undefined): string {
  const where = module === undefined ? 'a bundle' : module
  return `Treadle was bundled into ${where}, and the files that it needs are not there. Leave it out of the bundle: ${lines.join('; ')}`
}

/** What is to be added, for each bundler. */
const lines = [
  "Next: serverExternalPackages: ['treadle'] in next.config",
  "esbuild, tsup and Rollup: external: ['treadle']",
  "webpack: externals: { treadle: 'module treadle' }",
  "Vite: ssr: { external: ['treadle'] }",
]
