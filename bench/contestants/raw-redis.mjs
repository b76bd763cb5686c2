// The driver that Treadle uses, one connection, one hash and two sorted sets, no queue around it: the ceiling.
import { Redis } from 'ioredis'

const lease = `
local ids = redis.call('ZRANGE', 'ready', 0, ARGV[1] - 1)
local jobs = {}
for index, id in ipairs(ids) do
  redis.call('ZREM', 'ready', id)
  redis.call('ZADD', 'running', ARGV[2], id)
  jobs[index] = redis.call('HGET', 'jobs', id)
end
return { ids, jobs }`

const done = `
for _, id in ipairs(ARGV) do
  redis.call('ZREM', 'running', id)
  redis.call('HDEL', 'jobs', id)
end`

/** @type {import('./contestant.mjs').Open} */
export async function openRawRedis(url) {
  const client = new Redis(url)
  let sent = 0
  return {
    add: (payload) => put(client, [payload], () => ++sent),
    addMany: (payloads) => put(client, payloads, () => ++sent),
    async drain(_, count) {
      for (let left = count; left > 0; ) {
        const [ids] = /** @type {[string[]]} */ (await client.eval(lease, 0, 500, Date.now() + 30_000))
        await client.eval(done, 0, ...ids)
        left -= ids.length
      }
    },
    close: () => client.disconnect(),
  }
}

async function put(client, payloads, next) {
  const rows = payloads.map((payload) => [String(next()).padStart(12, '0'), JSON.stringify(payload)])
  const now = Date.now()
  await client
    .multi()
    .hset('jobs', ...rows.flat())
    .zadd('ready', ...rows.flatMap(([id]) => [now, id]))
    .exec()
}
