import { jobStates } from '../../queue/contract/job-state.ts'
import type { RedisServer } from './connections/server.ts'
import { readHead } from './units/head.ts'
import { field } from './units/needs.ts'

/** Jobs per step. */
const page = 1_000

/**
 * Adds the jobs of a queue to the lists by name and by group, if a build without these lists has stored them. What was added
 * once is not lost, so any number of programs may do this at the same time, and one that was interrupted begins again.
 */
export async function fillLists(server: RedisServer): Promise<void> {
  if ((await server.read([field('meta', 'listed')]))[0] !== null) return
  for (const state of jobStates) await fillFrom(server, `all:${state}`)
  await server.all([['HSET', 'meta', 'listed', '1']])
}

async function fillFrom(server: RedisServer, key: string): Promise<void> {
  let last = '-'
  for (;;) {
    const [ids] = (await server.all([['ZRANGE', key, last, '+', 'BYLEX', 'LIMIT', 0, page]])) as [string[]]
    const heads = await server.read(ids.map((id) => field('h', id)))
    const commands = ids.flatMap((id, index) => {
      const text = heads[index]
      if (typeof text !== 'string') return []
      const { job, group } = readHead(text)
      return [['ZADD', `of:${job}`, 0, id] as const, ...(group === null ? [] : [['ZADD', `og:${group}`, 0, id] as const])]
    })
    if (commands.length > 0) await server.all(commands)
    if (ids.length < page) return
    last = `(${ids.at(-1)}`
  }
}
