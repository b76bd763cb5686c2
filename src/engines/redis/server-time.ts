import { script } from './connections/script.ts'
import type { RedisServer } from './connections/server.ts'
import { readMark } from './queue-mark.ts'

const timeScript = script(`local time = redis.call('TIME')
return { time[1], time[2], ${readMark}, redis.call('HGETALL', KEYS[1] .. 'spoilt') }`)

interface ServerTime {
  readonly now: number
  /** See `QueueMark`. */
  readonly mark: string | null
  /** See `SpoiltKeys`. */
  readonly spoilt: readonly string[]
}

/** The clock of the server that holds the queue's keys (a cluster has several), and what it has noted about the queue. */
export async function readServerTime(server: RedisServer): Promise<ServerTime> {
  const [seconds, micros, mark, spoilt] = (await server.run(timeScript, [])) as [string, string, string | null, string[]]
  return { now: Number(seconds) * 1_000 + Number(micros) / 1_000, mark, spoilt }
}
