import type { LogBounds, LogChunk, LogStore, StoredLogChunk } from '../../../queue/contract/stores/log-store.ts'
import { script } from '../connections/script.ts'
import { readChunk } from '../units/loaded-logs.ts'
import type { RedisStoreParts } from './store-parts.ts'

/**
 * Appends chunks to the lists of their jobs, and drops the oldest chunks of a job that exceeds the bounds; the newest stays. A
 * field beside each list holds the number of its last line, its lines and its bytes.
 */
const appendScript = script(`
local mostLines, mostBytes = tonumber(ARGV[1]), tonumber(ARGV[2])
for at = 3, #ARGV, 6 do
  local id, attempt, lines, dropped, bytes = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  if redis.call('HEXISTS', KEYS[1] .. 'h', id) == 1 then
    local key = KEYS[1] .. 'log:' .. id
    local last, allLines, allBytes = string.match(redis.call('HGET', KEYS[1] .. 'lx', id) or '', '^(%d+)|(%d+)|(%d+)$')
    last, allLines, allBytes = last or 0, allLines or 0, allBytes or 0
    local first = tonumber(last) + dropped + 1
    last, allLines, allBytes = first + lines - 1, allLines + lines, allBytes + bytes
    redis.call('RPUSH', key, attempt .. '|' .. first .. '|' .. last .. '|' .. bytes .. '|' .. ARGV[at + 5])
    while (allLines > mostLines or allBytes > mostBytes) and redis.call('LLEN', key) > 1 do
      local from, to, size = string.match(redis.call('LPOP', key), '^%d+|(%d+)|(%d+)|(%d+)|')
      if size then allLines, allBytes = allLines - (to - from + 1), allBytes - size end
    end
    redis.call('HSET', KEYS[1] .. 'lx', id, string.format('%.0f|%.0f|%.0f', last, allLines, allBytes))
  end
end
return ''
`)

/** Logs of jobs: a list for each job, deleted with it. */
export class RedisLogs implements LogStore {
  readonly #parts: RedisStoreParts

  constructor(parts: RedisStoreParts) {
    this.#parts = parts
  }

  async append(chunks: readonly LogChunk[], { lines, bytes }: LogBounds): Promise<void> {
    await this.#parts.ready()
    const rows = chunks.flatMap((chunk) => {
      const { id, attempt, dropped, text } = chunk
      return [id, attempt, chunk.lines, dropped, Buffer.byteLength(text), text]
    })
    await this.#parts.server.run(appendScript, [lines, bytes, ...rows])
  }

  async read(id: string, after: number, limit: number): Promise<readonly StoredLogChunk[]> {
    await this.#parts.ready()
    const [stored] = (await this.#parts.server.all([['LRANGE', `log:${id}`, 0, -1]])) as [string[]]
    return stored
      .map(readChunk)
      .filter(({ attempt, first, last }) => last > after && Number.isSafeInteger(attempt) && Number.isSafeInteger(first))
      .slice(0, limit)
      .map(({ attempt, first, last, text }) => ({ attempt, first, last, text }))
  }

  /** Nothing to sweep: logs are deleted with their jobs. */
  async sweep(): Promise<number> {
    await this.#parts.ready()
    return 0
  }
}
