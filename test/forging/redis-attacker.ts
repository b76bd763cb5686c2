import { bodyIn } from '../../src/engines/redis/units/stored-text.ts'
import type { rawClient } from '../backends/redis-ground.ts'
import type { Attacker, Columns } from './attacker.ts'

type Client = Awaited<ReturnType<typeof rawClient>>
type Value = string | number | null

/** Where columns stand in the first line of a head, behind its stamp. */
const lineOf: Readonly<Record<string, number>> = {
  ...{ state: 1, run_at: 2, attempts: 3, rescues: 4, started_at: 5, finished_at: 6, lease_until: 7, flags: 8, owner: 10 },
}
/** And in the lists below it. */
const restOf: Readonly<Record<string, number>> = { job: 0, queue: 1, priority: 2, single: 3, grp: 4, number: 5, created_at: 6 }
const bodyOf: Readonly<Record<string, number>> = { identity: 0, payload: 1, signature: 2 }
const extraOf: Readonly<Record<string, number>> = { result: 0, seal: 1, progress: 2, reason: 3, errors: 4 }
const edgeOf: Readonly<Record<string, number>> = { target: 1, policy: 4, waiting: 5 }
const states = ['ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped', 'missing']

export interface RedisAttacker extends Attacker {
  readonly client: Client
  /** Of a table of the queue. */
  key(name: string): string
}

export function redisAttacker(client: Client, prefix: string): RedisAttacker {
  const key = (name: string) => `${prefix}${name}`
  const listIn = async (table: string, id: string, otherwise: string) => {
    const text = (await client.hget(key(table), id)) ?? otherwise
    return table === 'b' ? [...bodyIn(text)] : (JSON.parse(text) as Value[])
  }
  const headOf = async (id: string) => {
    const [line = '', rest = ''] = ((await client.hget(key('h'), id)) ?? '').split('\n')
    return { line: line.split('|'), rest: JSON.parse(rest) as Value[] }
  }
  const forgeHead = async (id: string, columns: Columns) => {
    const { line, rest } = await headOf(id)
    for (const [column, value] of Object.entries(columns)) {
      if (column in lineOf) line[lineOf[column] as number] = String(value ?? '')
      if (column in restOf) rest[restOf[column] as number] = value
    }
    await client.hset(key('h'), id, `${line.join('|')}\n${JSON.stringify(rest)}`)
    if (typeof columns.number === 'number') await client.hset(key('num'), String(columns.number), id)
    if (typeof columns.state === 'number') {
      for (const state of states) await client.zrem(key(`all:${state}`), id)
      await client.zadd(key(`all:${states[columns.state]}`), 0, id)
    }
  }
  const forgeList = async (table: string, id: string, places: typeof bodyOf, columns: Columns, otherwise: string) => {
    const meant = Object.entries(columns).filter(([column]) => column in places)
    if (meant.length === 0) return
    const list: Value[] = await listIn(table, id, otherwise)
    for (const [column, value] of meant) list[places[column] as number] = value
    await client.hset(key(table), id, JSON.stringify(list))
  }
  return {
    client,
    key,
    forge: async (id, columns) => {
      await forgeHead(id, columns)
      await forgeList('b', id, bodyOf, columns, '["","",null]')
      await forgeList('x', id, extraOf, columns, '[null,null,null,null,[]]')
      if (columns.linked === 0) await client.hdel(key('p'), id)
    },
    forgeEdges: async (of, columns) => {
      for (const [name, text] of Object.entries(await client.hgetall(key('e')))) {
        const edge = JSON.parse(text)
        if (('waiter' in of && edge[0] !== of.waiter) || ('target' in of && edge[1] !== of.target)) continue
        for (const [column, value] of Object.entries(columns)) {
          if (column in edgeOf) edge[edgeOf[column] as number] = column === 'waiting' ? value === 1 : value
          else if (column === 'outcome') edge[6] = { state: states[value as number], result: null, seal: null, error: null }
          else if (edge[6] !== null) edge[6][column] = value
        }
        await client.hset(key('e'), name, JSON.stringify(edge))
      }
    },
    release: async (id) => {
      const { rest } = await headOf(id)
      const [job, queue, priority] = rest
      const lane = `${job}\n${priority}\n  \n${queue}`
      await forgeHead(id, { state: 0, run_at: 0 })
      await client.zrem(key('waits'), id)
      await client.zadd(key(`r:${lane}`), 0, id)
      for (const open of ['open', `o:${job}`]) await client.zadd(key(open), 0, lane)
    },
    deleteJob: async (id) => {
      for (const table of ['h', 'b', 'x', 'p']) await client.hdel(key(table), id)
    },
    forgeCounter: async (next) => void (await client.hset(key('meta'), 'numbers', next)),
    forgeOnce: async ({ result, seal }) => {
      for (const [name, text] of Object.entries(await client.hgetall(key('om')))) {
        await client.hset(key('om'), name, JSON.stringify([result, seal, ...JSON.parse(text).slice(2)]))
      }
    },
    moveKey: async (from, to) => {
      const [holder, taker] = [await headOf(from), await headOf(to)]
      const [index, uniqueKey, until] = holder.rest.slice(7, 10)
      taker.rest.splice(7, 3, index as Value, uniqueKey as Value, until as Value)
      holder.rest.splice(7, 3, null, null, 'ended')
      for (const [id, { line, rest }] of [
        [from, holder],
        [to, taker],
      ] as const)
        await client.hset(key('h'), id, `${line.join('|')}\n${JSON.stringify(rest)}`)
      await client.hset(key('u'), index as string, to)
    },
    forgeSchedules: async ({ definition, signature }) => {
      for (const [name, text] of Object.entries(await client.hgetall(key('sch')))) {
        const schedule = JSON.parse(text)
        const changes = { ...(definition !== undefined && { text: definition }), ...(signature !== undefined && { signature }) }
        await writeSchedule(name, { ...schedule, definition: { ...schedule.definition, ...changes } })
      }
    },
    copySchedules: async (name) => {
      for (const text of Object.values(await client.hgetall(key('sch')))) await writeSchedule(name, { ...JSON.parse(text), name })
    },
  }

  async function writeSchedule(name: string, schedule: object): Promise<void> {
    await client.hset(key('sch'), name, JSON.stringify(schedule))
    await client.zadd(key('schx'), await client.hincrby(key('meta'), 'revision', 1), name)
  }
}
