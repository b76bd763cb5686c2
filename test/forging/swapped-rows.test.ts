import { describe, expect, test } from 'vitest'
import { isFinal } from '../../src/queue/contract/job-state.ts'
import { type AttackedQueue, attackedSqlQueue, type SqlEngine, sqlEngines } from './attacked-queue.ts'
import type { SqlAttacker } from './sql-attacker.ts'

const columns =
  'lane, grp, state, run_at, created_at, attempts, rescues, cancel, begun, linked, token, owner, lease_until, started_at, finished_at, unique_key, unique_until, held_key, schedule, number, identity, payload, signature, reason, errors, progress, result, seal'.split(
    ', ',
  )

/** Columns that somebody would swap because they belong together. */
const together = [
  ['identity', 'payload'],
  ['payload', 'signature'],
  ['identity', 'payload', 'signature'],
  ['lane', 'identity', 'payload', 'signature'],
  ['unique_key', 'unique_until', 'held_key'],
  ['state', 'started_at', 'finished_at', 'result', 'seal'],
  ['payload', 'result', 'seal'],
  ['result', 'seal'],
  columns,
]

/** Each column is swapped alone on SQLite only, where that takes no time. */
function swapsOn(engine: SqlEngine): readonly (readonly string[])[] {
  return engine === 'sqlite' ? [...columns.map((column) => [column]), ...together] : together
}

const kinds = {
  ready: () => ({}),
  encrypted: () => ({ encrypt: true }),
  keyed: (n: number) => ({ unique: `u${n}`, idempotencyKey: `i${n}` }),
  grouped: (n: number) => ({ group: `g${n % 3}` }),
} as const

describe.each(sqlEngines)('columns of two jobs that somebody swaps on %s', (engine) => {
  test.each(Object.entries(kinds))('while they wait (%s) bring no handler what was sent to another job', async (_, optionsOf) => {
    const queue = await attackedSqlQueue(engine)
    const program = sending(queue)
    for (const swap of swapsOn(engine)) await swapped(queue, swap, await program.send(optionsOf), engine)
    const last = await program.sendOne('echo', {})
    await runAll(queue)
    expect(program.wrong).toEqual([])
    expect(program.ran).toContain(last)
    const left = await queue.backend.store.list({ limit: 1_000 })
    expect(left.filter(({ state }) => !isFinal(state))).toEqual([])
  })

  test('when they have ended bring nobody the result of another job', async () => {
    const queue = await attackedSqlQueue(engine)
    const program = sending(queue)
    const pairs: (readonly [readonly string[], Pair])[] = []
    for (const swap of swapsOn(engine)) pairs.push([swap, await program.send(kinds.ready)])
    await queue.jobs.run()
    for (const [swap, pair] of pairs) await swapped(queue, swap, pair, engine)
    for (const [, pair] of pairs) for (const of of pair) await queue.jobs.dispatch('take', { of }, { dependsOn: of })
    await runAll(queue)
    expect(program.wrong).toEqual([])
    expect(program.taken.size).toBeGreaterThan(0)
    for (const [, pair] of pairs) {
      for (const of of pair) {
        const result = await queue.jobs
          .handle(of)
          .result({ timeout: 1 })
          .catch(() => ({ of }))
        expect(result).toMatchObject({ of })
      }
    }
  })
})

type Pair = readonly [string, string]

/** Two jobs whose handlers know what was sent to them, and one that uses their results. */
function sending({ jobs }: AttackedQueue) {
  const sent = new Map<string, string>()
  const ran = new Set<string>()
  const taken = new Set<string>()
  const wrong: unknown[] = []
  for (const name of ['echo', 'pay']) {
    jobs
      .define(name, async ({ n }: { n: number }, { id }) => {
        ran.add(id)
        if (sent.get(id) !== `${name} ${n}`) wrong.push({ id, name, n, sent: sent.get(id) })
        return { of: id }
      })
      .queue(name)
  }
  jobs.define('take', async ({ of }: { of: string }, ctx) => {
    const [dependency] = await ctx.dependencies()
    taken.add(of)
    if (dependency?.id !== of || (dependency.result as { of: string }).of !== of) wrong.push({ of, dependency })
  })
  const sendOne = async (name: string, options: object) => {
    const n = sent.size
    const { id } = await jobs.dispatch(name, { n }, options)
    sent.set(id, `${name} ${n}`)
    return id
  }
  const send = async (optionsOf: (n: number) => object): Promise<Pair> => {
    return [await sendOne('echo', optionsOf(sent.size)), await sendOne('pay', optionsOf(sent.size))]
  }
  return { sent, ran, taken, wrong, send, sendOne }
}

async function swapped(queue: AttackedQueue<SqlAttacker>, swap: readonly string[], [one, other]: Pair, engine: SqlEngine) {
  const { sql } = queue.attacker
  // A text that many identities end with stands elsewhere in a file.
  const list = engine === 'sqlite' && swap.includes('identity') ? [...swap, 'stamp'] : swap
  await sql(`CREATE TABLE {swap_one} AS SELECT ${list.join(', ')} FROM {jobs} WHERE id = '${one}'`)
  await sql(`CREATE TABLE {swap_other} AS SELECT ${list.join(', ')} FROM {jobs} WHERE id = '${other}'`)
  if (list.includes('held_key')) await sql(`UPDATE {jobs} SET held_key = NULL WHERE id IN ('${one}', '${other}')`)
  const from = (table: string) => list.map((column) => `${column} = (SELECT ${column} FROM {${table}})`).join(', ')
  await sql(`UPDATE {jobs} SET ${from('swap_other')} WHERE id = '${one}'`)
  await sql(`UPDATE {jobs} SET ${from('swap_one')} WHERE id = '${other}'`)
  for (const table of ['swap_one', 'swap_other']) await sql(`DROP TABLE {${table}}`)
}

/** Also what is tried again later. */
async function runAll({ jobs, clock }: AttackedQueue): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await jobs.run()
    await clock.advance(3_600_000)
  }
}
