import { TreadleError } from '../../core/errors.ts'
import type { OpenUpkeep } from '../../queue/contract/upkeep.ts'
import { openAgain } from '../servers/repeating.ts'
import { RedisBackend, upkeepOf } from './backend.ts'
import type { RedisClient } from './connections/client.ts'
import { leaveOtherDatabases, whenReady } from './connections/connection.ts'
import { makeClient } from './connections/driver.ts'
import { refuseFewRights } from './connections/rights.ts'
import { script } from './connections/script.ts'
import { RedisServer } from './connections/server.ts'
import { fillLists } from './filled-lists.ts'
import { type RedisConfig, type RedisOptions, redisConfig } from './options.ts'
import { QueueMark } from './queue-mark.ts'
import { isTooOld, lossOf, type ServerSettings, settingsOf } from './server-settings.ts'

export type { RedisBackend } from './backend.ts'
export type { RedisClient } from './connections/client.ts'
export type { RedisOptions } from './options.ts'

/** Opens the queue on a Redis or Valkey server. Rejects a server that may evict jobs when its memory is full. */
export async function openRedis(options: RedisOptions): Promise<RedisBackend> {
  const config = redisConfig(options)
  return openAgain(() => openQueue(config))
}

/** A given client may put a prefix of its own before all keys, but does not put it before the names of channels. */
const prefixScript = script('return KEYS[1]')

/** For maintenance commands. */
export async function openRedisUpkeep(options: RedisOptions): Promise<OpenUpkeep> {
  const config = redisConfig(options)
  const { client, server } = await connect(config)
  return { ...upkeepOf(server, config), [Symbol.asyncDispose]: async () => disconnect(config, client) }
}

async function openQueue(config: RedisConfig): Promise<RedisBackend> {
  const { client, server, place } = await connect(config)
  try {
    await refuseOtherDatabase(server, config)
    if (config.client === null) leaveOtherDatabases(client)
    await refuseFewRights(server, place)
    const settings = await settingsOf(server)
    refuseUnfit(settings, config)
    await refuseOldLayout(server, config.prefix)
    await fillLists(server)
    const { isNone, text } = lossOf(settings)
    if (!isNone) config.logger[settings.isAppending ? 'info' : 'warn'](`Redis at ${place}: ${text}`)
    const mark = await QueueMark.open(server, place, config.logger)
    const channel = `${await server.run(prefixScript, [])}wake`
    return new RedisBackend({ config, client, server, place, mark, channel, upkeep: upkeepOf(server, config) })
  } catch (thrown) {
    disconnect(config, client)
    throw thrown
  }
}

async function connect(config: RedisConfig) {
  const client = config.client ?? (await makeClient(config))
  const place = config.url === '' ? 'the given client' : new URL(config.url).host || 'localhost'
  // Without an error listener, a lost connection would crash the process.
  client.on('error', () => {})
  try {
    await whenReady(client, config.timeoutMs, place, true)
  } catch (thrown) {
    disconnect(config, client)
    throw thrown
  }
  const onDoubt = () => {
    if (config.client === null) client.disconnect(true)
  }
  const server = new RedisServer({ client, prefix: `{${config.prefix}}:`, timeoutMs: config.timeoutMs, place, onDoubt })
  return { client, server, place }
}

function disconnect({ client: given }: RedisConfig, client: RedisClient): void {
  if (given === null) client.disconnect()
}

/** If the server has no database with this number, the driver stays in database 0 without a word. */
async function refuseOtherDatabase(server: RedisServer, { client, database, cluster }: RedisConfig): Promise<void> {
  if (client !== null || cluster || database === 0) return
  const [, used] = /(?:^| )db=(\d+)/.exec(String(await server.command('CLIENT', 'INFO'))) ?? []
  if (used === undefined || Number(used) === database) return
  throw new TreadleError(
    'CONFIG_INVALID',
    `Redis has no database ${database}: see its setting "databases", which is 16 by default`,
  )
}

/** Builds before 0.1.0 kept all counts in one hash and had fewer indexes. */
async function refuseOldLayout(server: RedisServer, prefix: string): Promise<void> {
  const [isOld] = await server.all([['EXISTS', 'n']])
  if (isOld !== 1) return
  const advice = 'Drain it with the build that wrote it, and delete its keys; or use another prefix'
  throw new TreadleError('SCHEMA_OUTDATED', `The queue "${prefix}" in Redis has the layout of an earlier build. ${advice}`)
}

function refuseUnfit(settings: ServerSettings, { allowEviction, logger }: RedisConfig): void {
  const { product, version, policy } = settings
  if (isTooOld(settings)) {
    throw new TreadleError('CAPABILITY_MISSING', `${product} ${version} is too old: Treadle needs Redis 6.2 or later, or Valkey`)
  }
  if (policy === null || policy === 'noeviction') return
  const danger = `${product} deletes jobs when its memory is full (maxmemory-policy ${policy})`
  if (!allowEviction) {
    const message = `${danger}. Set maxmemory-policy noeviction, or set allowEviction: true if jobs may be lost`
    throw new TreadleError('CONFIG_INVALID', message)
  }
  logger.warn(danger)
}
