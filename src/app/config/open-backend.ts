import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TreadleError } from '../../core/errors.ts'
import { workingFolder } from '../../core/process/environment.ts'
import { maskedUrl } from '../../core/text/masking.ts'
import { openMemory } from '../../engines/memory/index.ts'
import { openSync } from '../../engines/sync/index.ts'
import { keyRingFromFile } from '../../envelope/keys/key-file.ts'
import { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import type { JobStore } from '../../queue/contract/store.ts'
import type { OpenUpkeep } from '../../queue/contract/upkeep.ts'
import type { CoordinationPlace } from './backend-place.ts'
import { isBroker, schemeOf, unknownUrl } from './schemes.ts'
import type { Settings } from './settings.ts'

export { hasTransactions, urlProblem } from './schemes.ts'

export interface OpenedBackend {
  readonly backend: QueueBackend
  /** Keys are read when something is first signed or verified. Null if jobs are unsigned. */
  readonly keys: KeyRing | null
}

// Loaded on demand: a program usually needs only one engine.
const sqlite = () => import('../../engines/sqlite/index.ts')
const postgres = () => import('../../engines/postgres/index.ts')
const mysql = () => import('../../engines/mysql/index.ts')
const serviceBus = () => import('../../engines/service-bus/index.ts')
const beanstalkd = () => import('../../engines/beanstalkd/index.ts')
const redis = () => import('../../engines/redis/index.ts')
const coordinated = () => import('../../engines/coordinated/index.ts')

/** Opens the backend at the URL, together with the keys that sign its envelopes. */
export async function openBackend(url: string, settings: Settings, folder: string = workingFolder()): Promise<OpenedBackend> {
  const { backend: given, coordination } = settings
  if (coordination !== null && given === null && !isBroker(url)) {
    const message = `coordination is for brokers, and ${JSON.stringify(maskedUrl(url))} keeps its own state: remove it`
    throw new TreadleError('CONFIG_INVALID', message)
  }
  const engine = given ?? (await openEngine(url, settings, folder))
  const backend = coordination === null ? engine : await withCoordination(engine, coordination, settings, folder)
  const file = given === null ? databaseFile(url, folder) : null
  if (file === null) return { backend, keys: keysFor(engine.kind, settings) }
  return { backend, keys: settings.keys ?? (await keysOfFile(keyFileOf(file), backend, settings)) }
}

async function openEngine(
  url: string,
  { clock, logger, migrate, sqliteDriver }: Settings,
  folder: string,
): Promise<QueueBackend> {
  switch (schemeOf(url)) {
    case 'memory:':
      return openMemory({ clock })
    case 'sync:':
      return openSync({ clock })
    case 'sqlite:':
      return (await sqlite()).openSqlite({ path: sqlitePath(url, folder), clock, logger, migrate, driver: sqliteDriver })
    case 'postgres:':
    case 'postgresql:':
      return (await postgres()).openPostgres({ url, clock, logger, migrate })
    case 'mysql:':
    case 'mariadb:':
      return (await mysql()).openMysql({ url, clock, logger, migrate })
    case 'servicebus:':
      return (await serviceBus()).openServiceBus({ url, clock, logger })
    case 'beanstalkd:':
      return (await beanstalkd()).openBeanstalkd({ url, clock, logger })
    case 'redis:':
    case 'rediss:':
    case 'valkey:':
    case 'valkeys:':
      return (await redis()).openRedis({ url, clock, logger })
    default:
      throw new TreadleError('BACKEND_UNKNOWN', unknownUrl(url))
  }
}

/** Closes the broker again if this fails, unless the caller passed in an open one. */
async function withCoordination(
  broker: QueueBackend,
  place: CoordinationPlace,
  settings: Settings,
  folder: string,
): Promise<QueueBackend> {
  try {
    const store = typeof place === 'string' ? await openEngine(place, settings, folder) : place
    const { clock, logger } = settings
    return (await coordinated()).openCoordinated({ broker, store, clock, logger })
  } catch (thrown) {
    if (settings.backend === null) await broker[Symbol.asyncDispose]()
    throw thrown
  }
}

/** Opens the database at the URL for maintenance only. Null if the backend has none. */
export async function openUpkeep(url: string, folder: string = workingFolder()): Promise<OpenUpkeep | null> {
  switch (schemeOf(url)) {
    case 'memory:':
    case 'sync:':
    case 'servicebus:':
    case 'beanstalkd:':
      return null
    case 'sqlite:':
      return (await sqlite()).openSqliteUpkeep(sqlitePath(url, folder))
    case 'postgres:':
    case 'postgresql:':
      return (await postgres()).openPostgresUpkeep({ url })
    case 'mysql:':
    case 'mariadb:':
      return (await mysql()).openMysqlUpkeep({ url })
    case 'redis:':
    case 'rediss:':
    case 'valkey:':
    case 'valkeys:':
      return (await redis()).openRedisUpkeep({ url })
    default:
      throw new TreadleError('BACKEND_UNKNOWN', unknownUrl(url))
  }
}

/**
 * Anyone who can write to a shared queue could have any job run. Without a key such a queue is read-only, unless `unsigned` is
 * set.
 */
function keysFor(kind: string, { keys, unsigned }: Settings): KeyRing | null {
  if (keys !== null || unsigned === true || kind === 'memory' || kind === 'sync') return keys
  return new KeyRing(() => {
    const message = `The ${kind} backend needs a signing key to send, change or run jobs, the same in all programs: set TREADLE_SIGNING_KEY, or TREADLE_SIGNING_KEY_FILE to a key file (npx treadle keys create). To work without signatures, set unsigned: true.`
    throw new TreadleError('KEY_INVALID', message)
  })
}

async function keysOfFile(path: string, { store }: QueueBackend, { unsigned, signEveryEnd }: Settings): Promise<KeyRing | null> {
  if (unsigned === true) return null
  const neededKey = store === undefined || existsSync(path) ? null : await keyOfWaiting(store)
  return keyRingFromFile(path, { acceptsUnsigned: unsigned === 'accept', signsEveryEnd: signEveryEnd, neededKey })
}

/** The id of the key that signed a job which has not ended; null if there is no such job. */
async function keyOfWaiting(store: JobStore): Promise<string | null> {
  for (const state of unendedStates) {
    const [job] = await store.list({ state, limit: 1 })
    if (job !== undefined && job.signature !== null) return job.signature.split('.')[0] ?? null
  }
  return null
}

const unendedStates = ['ready', 'scheduled', 'blocked', 'running'] as const

/** The key file of a SQLite database, used if no signing key is given. */
export function keyFileOf(databasePath: string): string {
  return `${databasePath}.key`
}

/** The file that the URL names; null if the queue is not in a file. */
export function databaseFile(url: string, folder: string): string | null {
  return url.startsWith('sqlite:') ? sqlitePath(url, folder) : null
}

function sqlitePath(url: string, folder: string): string {
  const rest = url.slice('sqlite:'.length)
  const path = rest.startsWith('///') ? fileURLToPath(`file:${rest}`) : rest.replace(/^\/\/(?=[^/])/, '')
  if (path.includes('?')) {
    const message = `${JSON.stringify(maskedUrl(url))} has parameters (?…), which are not supported for SQLite. Write the file alone: sqlite:${path.slice(0, path.indexOf('?')) || 'jobs.db'}`
    throw new TreadleError('BACKEND_UNKNOWN', message)
  }
  if (path === '' || path.includes(':memory:')) {
    const message = `${JSON.stringify(maskedUrl(url))} does not name a file. Write sqlite:jobs.db or sqlite:///folder/jobs.db; for a queue without a file, memory:`
    throw new TreadleError('BACKEND_UNKNOWN', message)
  }
  return isAbsolute(path) ? path : resolve(folder, path)
}
