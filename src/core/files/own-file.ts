import { TreadleError } from '../errors.ts'

/**
 * A file of this library, by its path from one of its modules. `module` is that module's `import.meta.url`, and `name` what it is
 * called: where that is not so, a bundler has put the modules into one file, and the others are not beside it.
 */
export function ownFile(path: string, module: string | undefined, name: string): URL {
  const isItself = module !== undefined && new RegExp(`/${name}\\.[jt]s$`).test(new URL(module).pathname)
  if (!isItself) throw new TreadleError('PACKAGE_BUNDLED', bundledText(module))
  return new URL(path, module)
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
