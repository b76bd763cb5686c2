import { jobStates } from '../../queue/contract/job-state.ts'
import { script } from './connections/script.ts'
import type { RedisServer } from './connections/server.ts'
import { readHead } from './units/head.ts'
import { field } from './units/needs.ts'

/** Jobs per step. */
const page = 1_000

/** What the lists of this build are called in `meta`. */
const current = '2'

/**
 * Adds the jobs of a queue to the lists by name and by group, if a build without these lists has stored them, and deletes the lists
 * of jobs that run, which earlier builds kept. What was added once is not lost, so any number of programs may do this at the same
 * time, and one that was interrupted begins again.
 */
export async function fillLists(server: RedisServer): Promise<void> {
  const [listed] = await server.read([field('meta', 'listed')])
  if (listed === current) return
  if (listed === null) for (const state of jobStates) await fillFrom(server, `all:${state}`)
  let cursor = '0'
  do cursor = (await server.run(dropping, [cursor])) as string
  while (cursor !== '0')
  await server.all([['HSET', 'meta', 'listed', current]])
}

const dropping = script(`
local beginning = string.gsub(KEYS[1], '[%[%]*?\\\\]', '\\\\%0')
local page = redis.call('SCAN', ARGV[1], 'MATCH', beginning .. 'own:*', 'COUNT', 1000)
for _, key in ipairs(page[2]) do redis.call('DEL', key) end
redis.call('DEL', KEYS[1] .. 'all:running')
return page[1]
`)

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
