import { script } from '../connections/script.ts'
import type { RedisStoreParts } from './store-parts.ts'

const sweepScript = script(`
local swept = 0
for _, kind in ipairs({ 'om', 'ul' }) do
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1] .. kind .. 'x', '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])) do
    redis.call('HDEL', KEYS[1] .. kind, name)
    redis.call('ZREM', KEYS[1] .. kind .. 'x', name)
    swept = swept + 1
  end
end
return swept
`)

/** Deletes idempotency keys and unique keys that have expired, at most `limit` of each. */
export async function sweepKeys({ server, time }: RedisStoreParts, limit: number): Promise<number> {
  return Number(await server.run(sweepScript, [time.now(), limit]))
}
