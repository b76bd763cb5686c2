import { answerOf } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import type { RollupBucket, RollupCell, RollupStore } from '../../../queue/contract/stores/rollup-store.ts'
import { type BucketKey, type RollupRows, Rollups, type StoredBucket } from '../../../queue/statistics/rollups.ts'
import { scriptEvenWhenFull } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import type { RedisStoreParts } from './store-parts.ts'

/** Writes buckets, unless one of them has changed since it was read. An empty text means that there is no bucket. */
const changeScript = scriptEvenWhenFull(`
local key = KEYS[1] .. 'ru'
for at = 1, #ARGV, 3 do
  if (redis.call('HGET', key, ARGV[at]) or '') ~= ARGV[at + 1] then return 0 end
end
for at = 1, #ARGV, 3 do
  if ARGV[at + 2] == '' then redis.call('HDEL', key, ARGV[at]) else redis.call('HSET', key, ARGV[at], ARGV[at + 2]) end
end
return 1
`)

/** Maximum number of attempts at a change when other programs keep changing the same buckets. */
const mostTries = 50

/** Statistics of what happened: a field for each bucket. */
export class RedisRollups implements RollupStore {
  readonly #parts: RedisStoreParts
  readonly #rules: Rollups

  constructor(parts: RedisStoreParts) {
    this.#parts = parts
    this.#rules = new Rollups(new RedisRows(parts.server))
  }

  async add(cells: readonly RollupCell[]): Promise<void> {
    await this.#parts.ready()
    await answerOf(this.#rules.add(cells, this.#parts.time.now()))
  }

  async read(from: number): Promise<readonly RollupBucket[]> {
    await this.#parts.ready()
    return answerOf(this.#rules.read(from))
  }

  async sweep(): Promise<number> {
    await this.#parts.ready()
    return answerOf(this.#rules.sweep(this.#parts.time.now()))
  }
}

class RedisRows implements RollupRows {
  readonly #server: RedisServer

  constructor(server: RedisServer) {
    this.#server = server
  }

  async keys(): Promise<readonly BucketKey[]> {
    const [names] = (await this.#server.all([['HKEYS', 'ru']])) as [string[]]
    return names.map(keyOf)
  }

  async since(at: number): Promise<readonly StoredBucket[]> {
    const names = (await this.keys()).filter((key) => key.at > at).map(nameOf)
    const bodies = await this.#bodies(names)
    return names.flatMap((name, index) => {
      const body = bodies[index] ?? null
      return body === null ? [] : [{ ...keyOf(name), body }]
    })
  }

  async change(
    keys: readonly BucketKey[],
    decide: (bodies: readonly (string | null)[]) => readonly (string | null)[],
  ): Promise<void> {
    const names = keys.map(nameOf)
    for (let tries = 1; tries <= mostTries; tries++) {
      const bodies = await this.#bodies(names)
      const decided = decide(bodies)
      const args = names.flatMap((name, index) => [name, bodies[index] ?? '', decided[index] ?? ''])
      if ((await this.#server.run(changeScript, args)) === 1) return
    }
    throw new TreadleError(
      'DATABASE_BUSY',
      'The statistics of the queue kept changing while they were written. They will be written again later.',
    )
  }

  async #bodies(names: readonly string[]): Promise<readonly (string | null)[]> {
    if (names.length === 0) return []
    const [bodies] = (await this.#server.all([['HMGET', 'ru', ...names]])) as [(string | null)[]]
    return bodies
  }
}

function nameOf({ step, at }: BucketKey): string {
  return `${step}|${at}`
}

function keyOf(name: string): BucketKey {
  const [step, at] = name.split('|')
  return { step: Number(step), at: Number(at) }
}
