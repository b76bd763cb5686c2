import { script } from './connections/script.ts'
import type { RedisServer } from './connections/server.ts'

const timeScript = script("return redis.call('TIME')")

/** The clock of the server that holds the queue's keys: a cluster has several. */
export async function readServerTime(server: RedisServer): Promise<number> {
  const [seconds, micros] = (await server.run(timeScript, [])) as [string, string]
  return Number(seconds) * 1_000 + Number(micros) / 1_000
}
