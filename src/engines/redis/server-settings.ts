import { TreadleError } from '../../core/errors.ts'
import type { RedisServer } from './connections/server.ts'
import { pairsOf } from './store/jobs.ts'

/** The server's settings that matter to a queue. Null if the server does not report one. */
export interface ServerSettings {
  /** Empty if the user may not run INFO: then little is known. */
  readonly version: string
  readonly product: 'Redis' | 'Valkey'
  readonly policy: string | null
  readonly maxMemory: number
  readonly usedMemory: number
  readonly isAppending: boolean
  readonly appendFsync: string | null
  /** When it writes snapshots; empty if never. */
  readonly save: string | null
  readonly role: string
  readonly replicas: number
  readonly isWritingWell: boolean
}

export async function settingsOf(server: RedisServer): Promise<ServerSettings> {
  const info = infoOf(await infoText(server))
  const [appendFsync, save, policy] = await Promise.all(
    ['appendfsync', 'save', 'maxmemory-policy'].map((name) => setting(server, name)),
  )
  const isValkey = info.get('server_name') === 'valkey'
  return {
    version: (isValkey ? info.get('valkey_version') : info.get('redis_version')) ?? '',
    product: isValkey ? 'Valkey' : 'Redis',
    policy: info.get('maxmemory_policy') ?? policy ?? null,
    maxMemory: Number(info.get('maxmemory') ?? 0),
    usedMemory: Number(info.get('used_memory') ?? 0),
    isAppending: info.get('aof_enabled') === '1',
    appendFsync: appendFsync ?? null,
    save: save ?? null,
    role: info.get('role') ?? 'master',
    replicas: Number(info.get('connected_slaves') ?? 0),
    isWritingWell: info.get('aof_last_write_status') !== 'err' && info.get('rdb_last_bgsave_status') !== 'err',
  }
}

/** Empty if the user may not read it. */
async function infoText(server: RedisServer): Promise<string> {
  try {
    return String(await server.command('INFO'))
  } catch (thrown) {
    if (thrown instanceof TreadleError && thrown.code === 'DATABASE_DENIED') return ''
    throw thrown
  }
}

/** Hosted servers often do not allow reading their settings. */
async function setting(server: RedisServer, name: string): Promise<string | null> {
  try {
    const found = (await server.command('CONFIG', 'GET', name)) as string[] | Record<string, string>
    return [...pairsOf(found)][0]?.[1] ?? null
  } catch {
    return null
  }
}

function infoOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split('\r\n').flatMap((line) => {
      const end = line.indexOf(':')
      return end < 0 || line.startsWith('#') ? [] : [[line.slice(0, end), line.slice(end + 1)] as const]
    }),
  )
}

/** How much acknowledged data a crash of the server or its machine can lose. */
export function lossOf({ version, isAppending, appendFsync, save }: ServerSettings): {
  readonly isNone: boolean
  readonly text: string
} {
  if (version === '') {
    const advice = 'Make sure of maxmemory-policy noeviction, appendonly yes and appendfsync always'
    return { isNone: false, text: `the user may not read the settings (+info +config|get). ${advice}` }
  }
  if (isAppending && appendFsync === 'always') {
    return { isNone: true, text: 'a crash loses nothing that was acknowledged (appendonly yes, appendfsync always)' }
  }
  if (isAppending && appendFsync !== 'no') {
    const how = appendFsync === null ? 'appendonly yes' : `appendonly yes, appendfsync ${appendFsync}`
    return { isNone: false, text: `a crash of the machine can lose about the last second (${how})` }
  }
  if (isAppending) return { isNone: false, text: 'a crash of the machine can lose the last half minute (appendfsync no)' }
  if (save !== '') {
    const how = save === null ? 'appendonly no' : `appendonly no, save ${save}`
    return { isNone: false, text: `a crash loses everything after the last snapshot (${how})` }
  }
  return { isNone: false, text: 'a crash or a restart loses all jobs (appendonly no, no snapshots)' }
}

/** Redis 6.2 and Valkey have all commands that the queue needs. */
export function isTooOld({ product, version }: ServerSettings): boolean {
  if (version === '') return false
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return product === 'Redis' && (major < 6 || (major === 6 && minor < 2))
}
