import nodeModule from 'node:module'
import { join } from 'node:path'
import { TreadleError } from '../../../core/errors.ts'
import { workingFolder } from '../../../core/process/environment.ts'
import type { SqliteConnection } from '../../../definition/transactions/caller-transaction.ts'
import type { SqliteDriverName } from '../driver-names.ts'
import { adaptedDriver, type BetterDriver } from './better-sqlite.ts'
import { loadBuiltIn, loadPackage, type SqliteDriver } from './driver.ts'

/** Can be passed to the database thread, which has to use the same copy of SQLite. */
export interface DriverChoice {
  readonly name: SqliteDriverName
  /** The module of `better-sqlite3`: a program may have several copies. */
  readonly module?: string
}

export interface ChosenDriver {
  readonly choice: DriverChoice
  readonly Driver: SqliteDriver
  /** Whether this copy of SQLite opened the program's connection. */
  hasOpened(connection: SqliteConnection): boolean
}

/** Shared by all copies of Treadle in this process: a bundler may make several. */
const usual = Symbol.for('treadle.sqlite-driver')
const shared = globalThis as { [usual]?: DriverChoice }

/**
 * Two copies of SQLite in one process do not see each other's locks: each writes into the other's transactions, and the file is
 * destroyed. So all files of a process are opened by one driver unless told otherwise: by `better-sqlite3` if the program has
 * loaded it, because the program may open the same file with it.
 */
export async function chooseDriver(wanted?: SqliteDriverName): Promise<ChosenDriver> {
  if (wanted !== undefined) return driverOf(choiceOf(wanted))
  const chosen = await choose()
  shared[usual] ??= chosen
  return driverOf(shared[usual])
}

export async function driverOf(choice: DriverChoice): Promise<ChosenDriver> {
  if (choice.module === undefined) {
    const Driver = choice.name === 'node:sqlite' ? await loadBuiltIn() : await loadPackage()
    return { choice, Driver, hasOpened: (connection) => connection instanceof Driver }
  }
  const Database = requiredFrom(choice.module)
  return { choice, Driver: adaptedDriver(Database), hasOpened: (connection) => connection instanceof Database }
}

async function choose(): Promise<DriverChoice> {
  const before = shared[usual]
  if (before !== undefined) return before
  const module = loadedModule()
  if (module !== undefined && works(module)) return { name: 'better-sqlite3', module }
  return loadBuiltIn().then(
    () => ({ name: 'node:sqlite' }),
    () => ({ name: '@photostructure/sqlite' }),
  )
}

function choiceOf(name: SqliteDriverName): DriverChoice {
  return name === 'better-sqlite3' ? { name, module: loadedModule() ?? installedModule() } : { name }
}

/** Its native part is loaded with the first file. */
function works(module: string): boolean {
  try {
    ;new (requiredFrom(module))(':memory:').close()
    return true
  } catch {
    return false
  }
}

function loadedModule(): string | undefined {
  return Object.keys(requireHere().cache).find((path) => /[/\\]better-sqlite3[/\\]lib[/\\]index\.js$/.test(path))
}

function installedModule(): string {
  try {
    return requireHere().resolve('better-sqlite3')
  } catch (cause) {
    throw new TreadleError('DRIVER_MISSING', 'better-sqlite3 is not installed here. Run: npm install better-sqlite3', { cause })
  }
}

function requiredFrom(module: string): BetterDriver {
  return requireHere()(module) as BetterDriver
}

/** Not as a named import: webpack would replace the call by a search among the files that it knows. */
function requireHere(): NodeJS.Require {
  return nodeModule.createRequire(join(workingFolder(), 'package.json'))
}
