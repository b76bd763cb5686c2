import { TreadleError } from '../../../core/errors.ts'
import { deniedInScript } from './connection.ts'
import { missingCommands } from './failure.ts'
import { script } from './script.ts'
import type { RedisServer } from './server.ts'

/** What the queue asks of a server inside scripts, each on a key that exists only while this runs. */
const rightsScript = script(`
local key = KEYS[1] .. 'rights'
local asked = {
  { 'TIME' }, { 'PUBLISH', KEYS[1] .. 'rights', '' },
  { 'SET', key, '', 'PX', 1000 }, { 'GET', key }, { 'EXISTS', key }, { 'DEL', key },
  { 'HSET', key, 'f', 1 }, { 'HINCRBY', key, 'f', 1 }, { 'HGET', key, 'f' }, { 'HMGET', key, 'f' }, { 'HEXISTS', key, 'f' },
  { 'HLEN', key }, { 'HKEYS', key }, { 'HVALS', key }, { 'HGETALL', key }, { 'HDEL', key, 'f' },
  { 'ZADD', key, 0, 'm' }, { 'ZINCRBY', key, 1, 'm' }, { 'ZSCORE', key, 'm' }, { 'ZMSCORE', key, 'm' }, { 'ZCARD', key },
  { 'ZCOUNT', key, 0, 1 }, { 'ZLEXCOUNT', key, '-', '+' }, { 'ZRANGE', key, 0, 0 }, { 'ZREVRANGE', key, 0, 0 },
  { 'ZRANGEBYSCORE', key, 0, 1 }, { 'ZRANGEBYLEX', key, '-', '+' }, { 'ZREMRANGEBYRANK', key, 0, 0 }, { 'ZREM', key, 'm' },
  { 'SADD', key, 'm' }, { 'SISMEMBER', key, 'm' }, { 'SMEMBERS', key }, { 'SREM', key, 'm' },
  { 'RPUSH', key, 'm' }, { 'LLEN', key }, { 'LRANGE', key, 0, 0 }, { 'LPOP', key },
  { 'XADD', key, '*', 'f', '' }, { 'XRANGE', key, '-', '+' }, { 'DEL', key },
}
local denied, missing = {}, {}
for _, command in ipairs(asked) do
  local answer = redis.pcall(unpack(command))
  local problem = type(answer) == 'table' and answer.err or ''
  for _, text in ipairs({ ${deniedInScript.map((text) => JSON.stringify(text)).join(', ')} }) do
    if string.find(problem, text, 1, true) then denied[#denied + 1] = command[1] end
  end
  if string.find(problem, 'Unknown .-command called') then missing[#missing + 1] = command[1] end
end
return { denied, missing }
`)

/**
 * Refuses a user who may do only a part of what the queue needs, and a server without some of its commands. A script that is denied
 * a command halfway leaves half of its work behind.
 */
export async function refuseFewRights(server: RedisServer, place: string): Promise<void> {
  const [denied, missing] = (await server.run(rightsScript, [])) as readonly [readonly string[], readonly string[]]
  if (missing.length > 0) throw missingCommands([...new Set(missing)], place)
  if (denied.length === 0) return
  const advice = `Give it ~${server.prefix}* &${server.prefix}* +@all -@dangerous +info +config|get`
  throw new TreadleError(
    'DATABASE_DENIED',
    `Redis at ${place}: the user may not run ${[...new Set(denied)].join(', ')} on the keys or channels of the queue. ${advice}`,
  )
}
