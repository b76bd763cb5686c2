import {
  type EventChunk,
  type EventListenerRow,
  type EventPosition,
  type EventStore,
  keptEventChunks,
  type StoredEventChunk,
} from '../../../queue/contract/stores/event-store.ts'
import { script, scriptEvenWhenFull } from '../connections/script.ts'
import type { RedisStoreParts } from './store-parts.ts'

/** Shared by the scripts below. */
const positions = `
-- Where somebody has spoilt the position, a new epoch begins, as for a first listener.
local function beginEpoch()
  if type(redis.pcall('HINCRBY', KEYS[1] .. 'evp', 'epoch', 1)) ~= 'number' then redis.call('HSET', KEYS[1] .. 'evp', 'epoch', 1) end
  redis.call('DEL', KEYS[1] .. 'ev')
end
local function lastPosition()
  local last = redis.call('HGET', KEYS[1] .. 'evp', 'last') or '0'
  if string.match(last, '^%d+$') and tonumber(last) <= 2 ^ 52 then return tonumber(last) end
  beginEpoch()
  redis.call('HSET', KEYS[1] .. 'evp', 'last', '0')
  return 0
end
local function forgetExpired(now)
  local rows = redis.call('HGETALL', KEYS[1] .. 'evl')
  local left = 0
  for at = 1, #rows, 2 do
    if (tonumber(string.match(rows[at + 1], '^(%d+)|') or '') or 0) <= now then redis.call('HDEL', KEYS[1] .. 'evl', rows[at])
    else left = left + 1 end
  end
  return left
end
`

/** The first listener begins a new epoch and deletes what is left of the previous one. */
const listenScript = scriptEvenWhenFull(`${positions}
local now = tonumber(ARGV[3])
if forgetExpired(now) == 0 then beginEpoch() end
redis.call('HSET', KEYS[1] .. 'evl', ARGV[1], string.format('%.0f', now + tonumber(ARGV[4])) .. '|' .. ARGV[2])
local last = string.format('%.0f', lastPosition())
return { redis.call('HGET', KEYS[1] .. 'evp', 'epoch') or '0', last }
`)

const leaveScript = script(`${positions}
redis.call('HDEL', KEYS[1] .. 'evl', ARGV[1])
if forgetExpired(tonumber(ARGV[2])) == 0 then redis.call('DEL', KEYS[1] .. 'ev') end
return ''
`)

/** A chunk is a stream entry, with the number of its last event as its id. */
const appendScript = scriptEvenWhenFull(`${positions}
local last = lastPosition()
for at = 2, #ARGV, 3 do
  local first = last + tonumber(ARGV[at + 1]) + 1
  last = first + tonumber(ARGV[at]) - 1
  redis.call('XADD', KEYS[1] .. 'ev', 'MAXLEN', '~', ARGV[1], string.format('%.0f-0', last), 'f', string.format('%.0f', first), 'b', ARGV[at + 2])
end
redis.call('HSET', KEYS[1] .. 'evp', 'last', string.format('%.0f', last))
return ''
`)

/** Recent events: a stream of chunks, bounded by the server, and a field for each listener. */
export class RedisEvents implements EventStore {
  readonly #parts: RedisStoreParts

  constructor(parts: RedisStoreParts) {
    this.#parts = parts
  }

  async listen({ id, wants }: EventListenerRow, ttlMs: number): Promise<EventPosition> {
    await this.#parts.ready()
    const { server, time } = this.#parts
    const [epoch, last] = (await server.run(listenScript, [id, wants, time.now(), ttlMs])) as [string, string]
    return { epoch: Number(epoch), last: Number(last) }
  }

  async leave(id: string): Promise<void> {
    await this.#parts.ready()
    await this.#parts.server.run(leaveScript, [id, this.#parts.time.now()])
  }

  async wanted(): Promise<readonly string[]> {
    await this.#parts.ready()
    const now = this.#parts.time.now()
    const [rows] = (await this.#parts.server.all([['HVALS', 'evl']])) as [string[]]
    return rows.flatMap((row) => {
      const bar = row.indexOf('|')
      return Number(row.slice(0, bar)) > now ? [row.slice(bar + 1)] : []
    })
  }

  async append(chunks: readonly EventChunk[]): Promise<void> {
    await this.#parts.ready()
    const rows = chunks.flatMap(({ events, dropped, text }) => [events, dropped, text])
    await this.#parts.server.run(appendScript, [keptEventChunks, ...rows])
  }

  async read(after: number, limit: number): Promise<readonly StoredEventChunk[]> {
    await this.#parts.ready()
    if (limit < 1) return []
    const asked = ['XRANGE', 'ev', `${after + 1}-0`, '+', 'COUNT', limit] as const
    const [entries] = (await this.#parts.server.all([asked])) as [[id: string, fields: string[]][]]
    return entries.map(([id, [, first = '', , text = '']]) => ({
      first: Number(first),
      last: Number(id.slice(0, id.indexOf('-'))),
      text,
    }))
  }
}
