import { digest } from '../../core/text/digest.ts'
import type { Coordination, HeldLock, LockAnswer, LockHolder, OnceClaim } from '../../queue/contract/contract.ts'
import { script, scriptEvenWhenFull } from './connections/script.ts'
import type { RedisStoreParts } from './store/store-parts.ts'
import { field, jobNeeds } from './units/needs.ts'

const lockScript = scriptEvenWhenFull(`
local name, owner, ttlMs, now, holder = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local key = KEYS[1] .. 'locks'
for _, each in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1] .. 'locksx', '-inf', now, 'LIMIT', 0, 100)) do
  redis.call('HDEL', key, each)
  redis.call('ZREM', KEYS[1] .. 'locksx', each)
end
local held = redis.call('HGET', key, name)
local since = now
if held and tonumber(redis.call('ZSCORE', KEYS[1] .. 'locksx', name) or 0) > now then
  local isRead, by = pcall(cjson.decode, held)
  -- A lock that nobody can read is held by nobody.
  if isRead and type(by) == 'table' and type(by.owner) == 'string' and type(by.since) == 'number' then
    if by.owner ~= owner then return held end
    since = by.since
  end
end
local text = string.sub(holder, 1, -2) .. string.format(',"since":%.0f,"expiresAt":%.0f}', since, now + ttlMs)
redis.call('HSET', key, name, text)
redis.call('ZADD', KEYS[1] .. 'locksx', now + ttlMs, name)
return ''
`)

const unlockScript = script(`
local name, owner, now = ARGV[1], ARGV[2], tonumber(ARGV[3])
local held = redis.call('HGET', KEYS[1] .. 'locks', name)
if not held or tonumber(redis.call('ZSCORE', KEYS[1] .. 'locksx', name) or 0) <= now then return 0 end
local isRead, by = pcall(cjson.decode, held)
if isRead and type(by) == 'table' and by.owner ~= owner then return 0 end
redis.call('HDEL', KEYS[1] .. 'locks', name)
redis.call('ZREM', KEYS[1] .. 'locksx', name)
return 1
`)

/** State that workers share. Locking and unlocking are one script each and use the queue's time. */
export class RedisCoordination implements Coordination {
  readonly #parts: RedisStoreParts

  constructor(parts: RedisStoreParts) {
    this.#parts = parts
  }

  async claimOnce(key: string, jobId: string): Promise<OnceClaim> {
    await this.#parts.ready()
    return this.#parts.units.run((queue) => {
      queue.rows.want([field('om', digest(key)), field('oh', digest(key)), ...jobNeeds(jobId)])
      return { answer: queue.rules.once.claim(key, queue.job(jobId), queue.now) }
    })
  }

  async lock(name: string, { owner, host, pid }: LockHolder, ttlMs: number): Promise<LockAnswer> {
    await this.#parts.ready()
    const { server, time } = this.#parts
    const holder = JSON.stringify({ owner, host, pid })
    const held = (await server.run(lockScript, [name, owner, ttlMs, time.now(), holder])) as string
    return held === '' ? { held: true } : { held: false, by: JSON.parse(held) as HeldLock }
  }

  async unlock(name: string, owner: string): Promise<boolean> {
    await this.#parts.ready()
    const { server, time } = this.#parts
    return Number(await server.run(unlockScript, [name, owner, time.now()])) === 1
  }
}
