import { expect, it } from 'vitest'
import { digest } from '../../../src/core/text/digest.ts'
import { scopedKey } from '../../../src/queue/model/unique-key.ts'
import type { Bench } from '../../../src/testing/conformance/bench.ts'
import { onSqlDatabases } from './several-programs.ts'

async function deadJob(bench: Bench, uniqueUntil: 'ended' | 'ever'): Promise<string> {
  const id = await bench.sendOne({ uniqueKey: 'k', uniqueUntil })
  await bench.settle(bench.dead(await bench.claimOne()))
  return id
}

const held = digest(scopedKey('work', 'k'))

onSqlDatabases('replaying a job while another program sends one with its unique key', (programs) => {
  it('is a conflict where the other one comes first, and not a failure of the database', () =>
    programs.open(1, async ([bench]) => {
      const id = await deadJob(bench!, 'ended')
      const other = bench!.newId()
      const [lane] = await programs.query<{ lane: number }>('SELECT lane FROM {lanes}')
      const sent = `INSERT INTO {jobs} (id, lane, state, run_at, created_at, identity, payload, held_key)
        VALUES ('${other}', ${lane!.lane}, 0, 0, 0, '', '', '${held}')`
      expect(await programs.inTheWay([sent], () => bench!.store.retry([id]))).toEqual(['conflict'])
      expect((await bench!.record(id)).state).toBe('dead')
      expect((await bench!.record(other)).state).toBe('ready')
    }))

  it('is a conflict also where the key outlives its job', () =>
    programs.open(1, async ([bench]) => {
      const id = await deadJob(bench!, 'ever')
      await programs.query('DELETE FROM {unique_keys}')
      const taken = `INSERT INTO {unique_keys} (held_key, job_id) VALUES ('${held}', '${bench!.newId()}')`
      expect(await programs.inTheWay([taken], () => bench!.store.retry([id]))).toEqual(['conflict'])
      expect((await bench!.record(id)).state).toBe('dead')
    }))

  it('gives each key to one job, whoever comes first', () =>
    programs.open(2, async ([one, two]) => {
      const keys = Array.from({ length: 40 }, (_, index) => `key ${index}`)
      const ids = await one!.send(...keys.map((uniqueKey) => ({ uniqueKey })))
      await one!.settle(...(await one!.claim()).map((lease) => one!.dead(lease)))
      const answers = await Promise.all(
        keys.map(async (uniqueKey, index) => {
          const retried = one!.store.retry([ids[index]!])
          const sent = two!.backend.send([two!.envelope({ uniqueKey })])
          return [(await retried)[0], (await sent)[0]?.stored]
        }),
      )
      for (const [retried, stored] of answers)
        expect([retried, stored]).toEqual(stored ? ['conflict', true] : ['requeued', false])
      expect(await one!.store.list({ state: 'ready', limit: 100 })).toHaveLength(keys.length)
    }))
})
