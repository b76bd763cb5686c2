import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Jiti, JitiOptions } from 'jiti'
import { messageOf, TreadleError } from '../core/errors.ts'
import { trustProblem } from '../core/files/file-trust.ts'
import { ownFile } from '../core/files/own-file.ts'

/** Imports a JavaScript or TypeScript file; what goes wrong in it is one error that names the file, and the line where known. */
export async function loadModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const loader = await loaderFor(dirname(path))
    return Object(await loader.import(path))
  } catch (thrown) {
    const code = thrown instanceof TreadleError ? thrown.code : 'CONFIG_LOAD_FAILED'
    throw new TreadleError(code, `${placeOf(thrown, path)}: ${plainMessage(thrown)}`, { cause: thrown })
  }
}

/** A `module.exports` has no member `default`: there the whole of it is meant. */
export function defaultExport(module: Readonly<Record<string, unknown>>, path: string): unknown {
  return path.endsWith('.cjs') && !('default' in module) ? module : module.default
}

/** This package's own entry points, beside the main one. */
const subpaths: Readonly<Record<string, string>> = {
  'treadle/memory': 'engines/memory/index',
  'treadle/postgres': 'engines/postgres/index',
  'treadle/mysql': 'engines/mysql/index',
  'treadle/beanstalkd': 'engines/beanstalkd/index',
  'treadle/redis': 'engines/redis/index',
  'treadle/service-bus': 'engines/service-bus/index',
  'treadle/dashboard': 'server/dashboard/index',
  'treadle/transactions': 'definition/transactions/index',
  'treadle/sqlite': 'engines/sqlite/index',
  'treadle/client': 'client/index',
  'treadle/server': 'server/index',
  'treadle/move': 'moving/index',
  'treadle/testing': 'testing/index',
}

/**
 * What the file imports as `treadle` is this very copy of the library, wherever the project has it installed: with a second copy
 * the jobs would be defined in a registry that nobody reads.
 */
async function loaderFor(folder: string): Promise<Jiti> {
  // Large, and of no use to a program that loads its modules itself.
  const { createJiti } = await import('jiti')
  const library: unknown = await import(/* @vite-ignore */ libraryFile('index').href)
  const aliases = Object.entries(subpaths).map(([name, file]) => [name, fileURLToPath(libraryFile(file))])
  const options: JitiOptions = {
    interopDefault: false,
    virtualModules: { treadle: library },
    alias: Object.fromEntries(aliases),
    fsCache: cacheFolder(folder) ?? false,
  }
  const beside = join(folder, 'treadle.config.ts')
  try {
    return createJiti(beside, { ...options, tsconfigPaths: true })
  } catch {
    // A tsconfig.json that cannot be read is the compiler's business; only its path aliases are missed here.
    return createJiti(beside, options)
  }
}

function libraryFile(path: string): URL {
  // Also from the sources, where modules have the extension of TypeScript.
  const extension = /\.ts$/.test(import.meta.url) ? '.ts' : '.js'
  return ownFile(`${path}${extension}`)
}

/** Only inside the project, and where nobody else could have put anything: what is in the cache is run. */
function cacheFolder(folder: string): string | undefined {
  const modules = join(folder, 'node_modules')
  const cache = join(modules, '.cache', 'jiti')
  if (existsSync(modules)) return trustProblem(cache) === undefined ? cache : undefined
  const parent = dirname(folder)
  return parent === folder ? undefined : cacheFolder(parent)
}

/** `path:line` where the error tells the line, otherwise the path. */
function placeOf(thrown: unknown, path: string): string {
  if (!(thrown instanceof Error)) return path
  const texts = [thrown.message, thrown.stack ?? '']
  for (const text of texts) {
    const at = text.indexOf(`${path}:`)
    const line = at < 0 ? undefined : /^\d+/.exec(text.slice(at + path.length + 1))?.[0]
    if (line !== undefined) return `${path}:${line}`
  }
  return path
}

/** The first line, without the marks of the loader: the rest repeats the place. */
function plainMessage(thrown: unknown): string {
  const [first = ''] = messageOf(thrown).split('\n')
  return first.replace(/^ParseError: /, '').trim()
}
