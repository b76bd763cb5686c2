import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { createJiti, Jiti, JitiOptions } from 'jiti'
import { messageOf, TreadleError } from '../core/errors.ts'
import { trustProblem } from '../core/files/file-trust.ts'
import { libraryFile } from '../core/files/own-file.ts'

/** Imports a JavaScript or TypeScript file. Any failure becomes one error that names the file, and the line if known. */
export async function loadModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const loader = await loaderFor(dirname(path))
    return Object(await loader.import(path))
  } catch (failed) {
    const thrown = await firstError(failed, path)
    const code = thrown instanceof TreadleError ? thrown.code : 'CONFIG_LOAD_FAILED'
    throw new TreadleError(code, `${placeOf(thrown, path)}: ${plainMessage(thrown)}`, { cause: thrown })
  }
}

/** For `module.exports` without a `default` member, this is the whole object. */
export function defaultExport(module: Readonly<Record<string, unknown>>, path: string): unknown {
  return path.endsWith('.cjs') && !('default' in module) ? module : module.default
}

/** The entry points of this package other than the main one. */
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
 * Makes imports of `treadle` resolve to this copy of the library, wherever the project has it installed. With a second copy, jobs
 * would be defined in a registry that is never read.
 */
async function loaderFor(folder: string): Promise<Jiti> {
  const { createJiti } = await importJiti()
  const library: unknown = await import(/* @vite-ignore */ /* webpackIgnore: true */ moduleFile('index').href)
  const aliases = Object.entries(subpaths).map(([name, file]) => [name, fileURLToPath(moduleFile(file))])
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
    // An unreadable tsconfig.json is for the compiler to report. Only its path aliases are missing here.
    return createJiti(beside, options)
  }
}

/** Loaded on demand: it is large, and programs that load their own modules do not need it. */
function importJiti(): Promise<{ readonly createJiti: typeof createJiti }> {
  // `jiti` loads its compiler by a path, which tools that copy a program with the files that it needs do not see, and
  // `jiti/static` imports it: naming it here gets the compiler copied.
  return import('jiti').catch(() => import('jiti/static'))
}

function moduleFile(path: string): URL {
  // When run from the sources, modules have a TypeScript extension.
  const extension = /\.ts$/.test(import.meta.url) ? '.ts' : '.js'
  return libraryFile(`${path}${extension}`)
}

/** Only inside the project and in a trusted folder, because the contents of the cache are executed. */
function cacheFolder(folder: string): string | undefined {
  const modules = join(folder, 'node_modules')
  const cache = join(modules, '.cache', 'jiti')
  if (existsSync(modules)) return trustProblem(cache) === undefined ? cache : undefined
  const parent = dirname(folder)
  return parent === folder ? undefined : cacheFolder(parent)
}

/**
 * An ES module that fails is evaluated again by the loader, which then only tells that its jobs are defined twice. Node knows what
 * the module failed with at first, and does not evaluate it for that.
 */
async function firstError(failed: unknown, path: string): Promise<unknown> {
  const isSecond = failed instanceof TreadleError && failed.code === 'JOB_DUPLICATE' && /\.m?js$/.test(path)
  if (!isSecond) return failed
  const again: Promise<unknown> = import(/* @vite-ignore */ /* webpackIgnore: true */ pathToFileURL(path).href)
  // A syntax error is that of a file that only the loader can read, so it was evaluated once.
  return again.then(
    () => failed,
    (first: unknown) => (first instanceof SyntaxError ? failed : first),
  )
}

/** `path:line` if the error contains the line, otherwise the path. */
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

/** The first line without the prefix of the loader. The other lines only repeat the location. */
function plainMessage(thrown: unknown): string {
  const [first = ''] = messageOf(thrown).split('\n')
  return first.replace(/^ParseError: /, '').trim()
}
