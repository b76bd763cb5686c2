import { script } from './connections/script.ts'
import type { RedisServer } from './connections/server.ts'
import { readMark } from './queue-mark.ts'

const timeScript = script(`local time = redis.call('TIME')
return { time[1], time[2], ${readMark} }`)

/** The clock of the server that holds the queue's keys (a cluster has several), and the mark of the queue: see `QueueMark`. */
export async function readServerTime(server: RedisServer): Promise<{ readonly now: number; readonly mark: string | null }> {
  const [seconds, micros, mark] = (await server.run(timeScript, [])) as [string, string, string | null]
  return { now: Number(seconds) * 1_000 + Number(micros) / 1_000, mark }
}
