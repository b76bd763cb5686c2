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
import type { Settings } from './options.ts'

export interface OpenedBackend {
  readonly backend: QueueBackend
  /** Its keys are asked for when something is first signed or verified. Null where jobs travel unsigned. */
  readonly keys: KeyRing | null
}

// A program uses one of them, and is not to wait for the others to be loaded.
const sqlite = () => import('../../engines/sqlite/index.ts')
const postgres = () => import('../../engines/postgres/index.ts')
const mysql = () => import('../../engines/mysql/index.ts')
const serviceBus = () => import('../../engines/service-bus/index.ts')
const beanstalkd = () => import('../../engines/beanstalkd/index.ts')
const redis = () => import('../../engines/redis/index.ts')

/** Opens what the URL names, with the keys that its envelopes are signed with. */
export async function openBackend(url: string, settings: Settings, folder: string = workingFolder()): Promise<OpenedBackend> {
  const { clock, logger, migrate, keys } = settings
  if (settings.backend !== null) return { backend: settings.backend, keys: keysFor(settings.backend.kind, settings) }
  switch (schemeOf(url)) {
    case 'memory:':
      return { backend: openMemory({ clock }), keys }
    case 'sync:':
      return { backend: openSync({ clock }), keys }
    case 'sqlite:': {
      const path = sqlitePath(url, folder)
      const backend = await (await sqlite()).openSqlite({ path, clock, logger, migrate })
      return { backend, keys: keys ?? (await keysOfFile(keyFileOf(path), backend, settings)) }
    }
    case 'postgres:':
    case 'postgresql:': {
      const shared = keysFor('postgres', settings)
      return { backend: await (await postgres()).openPostgres({ url, clock, logger, migrate }), keys: shared }
    }
    case 'mysql:':
    case 'mariadb:': {
      const shared = keysFor('mysql', settings)
      return { backend: await (await mysql()).openMysql({ url, clock, logger, migrate }), keys: shared }
    }
    case 'servicebus:': {
      const shared = keysFor('service-bus', settings)
      return { backend: await (await serviceBus()).openServiceBus({ url, clock, logger }), keys: shared }
    }
    case 'beanstalkd:': {
      const shared = keysFor('beanstalkd', settings)
      return { backend: await (await beanstalkd()).openBeanstalkd({ url, clock, logger }), keys: shared }
    }
    case 'redis:':
    case 'rediss:':
    case 'valkey:':
    case 'valkeys:': {
      const shared = keysFor('redis', settings)
      return { backend: await (await redis()).openRedis({ url, clock, logger }), keys: shared }
    }
    default:
      throw new TreadleError('BACKEND_UNKNOWN', unknownUrl(url))
  }
}

/** For those who look after the database that the URL names; null where it names none. */
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

function schemeOf(url: string): string {
  return url.slice(0, url.indexOf(':') + 1)
}

/** Why no backend would open this URL, or undefined when one would try. */
export function urlProblem(url: string): string | undefined {
  return schemes.some((scheme) => url.startsWith(scheme)) ? undefined : unknownUrl(url)
}

/** Whether a job can end in one transaction with its own writes there. */
export function hasTransactions(url: string): boolean {
  return ![...inMemory, ...brokers, ...redisSchemes].includes(schemeOf(url))
}

const inMemory = ['memory:', 'sync:']
const brokers = ['beanstalkd:', 'servicebus:']
const redisSchemes = ['redis:', 'rediss:', 'valkey:', 'valkeys:']
const schemes = [...inMemory, ...brokers, ...redisSchemes, 'sqlite:', 'postgres:', 'postgresql:', 'mysql:', 'mariadb:']

function unknownUrl(url: string): string {
  return `No backend opens ${JSON.stringify(maskedUrl(url))}. Known: sqlite:FILE, postgres://…, mysql://…, redis://…, beanstalkd://…, servicebus:…, memory:, sync:`
}

/** Whoever can write to a shared queue could have anything run: without a key it can only be looked at, unless that is said. */
function keysFor(kind: string, { keys, unsigned }: Settings): KeyRing | null {
  if (keys !== null || unsigned === true || kind === 'memory' || kind === 'sync') return keys
  return new KeyRing(() => {
    const message = `The ${kind} backend needs a signingKey (or TREADLE_SIGNING_KEY) to send, change or run jobs; unsigned: true does without.`
    throw new TreadleError('KEY_INVALID', message)
  })
}

async function keysOfFile(path: string, { store }: QueueBackend, { unsigned, signEveryEnd }: Settings): Promise<KeyRing | null> {
  if (unsigned === true) return null
  const neededKey = store === undefined || existsSync(path) ? null : await keyOfWaiting(store)
  return keyRingFromFile(path, { acceptsUnsigned: unsigned === 'accept', signsEveryEnd: signEveryEnd, neededKey })
}

/** The id of a key that a job is signed with which is not done yet; null where there is none. */
async function keyOfWaiting(store: JobStore): Promise<string | null> {
  for (const state of unendedStates) {
    const [job] = await store.list({ state, limit: 1 })
    if (job !== undefined && job.signature !== null) return job.signature.split('.')[0] ?? null
  }
  return null
}

const unendedStates = ['ready', 'scheduled', 'blocked', 'running'] as const

/** Where the keys of a SQLite file are, unless a signing key is given. */
export function keyFileOf(databasePath: string): string {
  return `${databasePath}.key`
}

/** The file that a URL names, or null where the queue is not in a file. */
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
