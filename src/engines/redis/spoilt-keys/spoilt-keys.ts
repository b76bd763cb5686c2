import { messageOf } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import { script } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import { pairsOf } from '../store/jobs.ts'
import type { Units } from '../units/units.ts'
import { isRebuilt, keyTypeOf } from './key-types.ts'
import { rebuildIndexes } from './rebuilding.ts'

/** How long another program waits before it rebuilds in place of one that has stopped. */
const rebuildingMs = 30_000

const doneScript = script(`
for at = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[1] .. 'spoilt', ARGV[at]) == ARGV[at + 1] then
    redis.call('HSET', KEYS[1] .. 'spoilt', ARGV[at], (string.gsub(ARGV[at + 1], '^found', 'rebuilt')))
  end
end
redis.call('DEL', KEYS[1] .. 'repairing')
return ''
`)

interface SpoiltKeysParts {
  readonly server: RedisServer
  readonly units: Units
  readonly logger: Logger
  /** Where the server is, without passwords. */
  readonly place: string
}

/**
 * Keys of the queue that something else has replaced by a key of another type. Scripts set them aside, and note their names; the
 * programs that use the queue read these from time to time. Each of them logs them, and one of them rebuilds what can be.
 */
export class SpoiltKeys {
  readonly #parts: SpoiltKeysParts
  readonly #told = new Set<string>()
  #rebuilding: Promise<void> | null = null

  constructor(parts: SpoiltKeysParts) {
    this.#parts = parts
  }

  /** `stored` is what the server has noted: names and what was found. */
  heard(stored: readonly string[]): void {
    const found = [...pairsOf(stored)].filter(([, text]) => text.startsWith('found|'))
    if (found.length === 0) return
    const { server, logger, place } = this.#parts
    for (const [name, text] of found) {
      if (this.#told.has(`${name}\n${text}`)) continue
      this.#told.add(`${name}\n${text}`)
      logger.error(`Redis at ${place}: ${spoiltText(server.prefix, name, text)}. ${adviceOn(server.prefix, name)}`)
    }
    this.#rebuilding ??= this.#rebuild(found)
      .catch((error: unknown) => logger.warn(`The indexes of the queue could not be rebuilt now: ${messageOf(error)}`))
      .finally(() => {
        this.#rebuilding = null
      })
  }

  async #rebuild(found: readonly (readonly [string, string])[]): Promise<void> {
    const { server, units } = this.#parts
    const key = `${server.prefix}repairing`
    if ((await server.command('SET', key, '1', 'PX', rebuildingMs, 'NX')) === null) return
    await rebuildIndexes(server, units, async () => {
      await server.command('PEXPIRE', key, rebuildingMs)
    })
    await server.run(doneScript, found.flat())
  }
}

/** What was found under a key. */
export function spoiltText(prefix: string, name: string, text: string): string {
  const type = typeNames[text.split('|')[1] ?? ''] ?? 'something else'
  const wanted = typeNames[keyTypeOf(name) ?? ''] ?? 'something else'
  return `the key ${JSON.stringify(prefix + name)} held ${type} where the queue keeps ${wanted}`
}

/** What has become of it, and what to do. */
export function adviceOn(prefix: string, name: string): string {
  const became = isRebuilt(name) ? 'it is being rebuilt from the stored jobs' : 'what the queue kept there is gone'
  const aside = `It was renamed to ${JSON.stringify(`${prefix}spoilt:${name}`)}, and ${became}`
  return `${aside}. Find out what else writes to the keys of this queue, and give it a prefix of its own`
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  list: 'a list',
  set: 'a set',
  zset: 'a sorted set',
  hash: 'a hash',
  stream: 'a stream',
}
