import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { SqlGround } from '../sql-ground.ts'

/** Leaves out the next rows that are inserted, as if each had met another one that is gone when it is looked for. */
const refusingNext = (count: number) => [
  'CREATE SEQUENCE refusals',
  `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
   'BEGIN IF nextval(''refusals'') <= ${count} THEN RETURN NULL; END IF; RETURN NEW; END'`,
  'CREATE TRIGGER refuse BEFORE INSERT ON {jobs} FOR EACH ROW EXECUTE FUNCTION refuse()',
]
const refusingNone = ['DROP TRIGGER refuse ON {jobs}', 'DROP FUNCTION refuse', 'DROP SEQUENCE refusals']

describe('a dispatch whose key or number others take and free again while it tries, on postgres', () => {
  const ground = new SqlGround('postgres')
  beforeAll(() => ground.start())
  afterAll(() => ground.stop())

  async function refusing(count: number, work: (bench: Bench) => Promise<void>): Promise<void> {
    const clock = new ManualClock()
    const backend = await ground.open(clock)
    try {
      for (const statement of refusingNext(count)) await ground.query(statement)
      await work(new Bench(backend, clock))
    } finally {
      for (const statement of refusingNone) await ground.query(statement)
      await backend[Symbol.asyncDispose]()
    }
    expect(await ground.faults()).toEqual([])
  }

  const kinds = [
    ['a unique key', { uniqueKey: 'k' }],
    ['a key that is held forever', { uniqueKey: 'k', uniqueUntil: 'ever' }],
    ['a number', { number: 7 }],
  ] as const

  it.each(kinds)('goes on until it is stored, with %s', (_, wanted) =>
    refusing(8, async (bench) => {
      const envelope = bench.envelope(wanted)
      expect(await bench.backend.send([envelope])).toEqual([{ id: envelope.id, stored: true }])
      expect(await bench.record(envelope.id)).toMatchObject({ state: 'ready' })
    }),
  )

  it.each(kinds)('fails if it could not be stored in the end, with %s', (_, wanted) =>
    refusing(1_000, async (bench) => {
      const envelope = bench.envelope(wanted)
      await expect(bench.backend.send([envelope])).rejects.toMatchObject({ code: 'DATABASE_BUSY' })
      expect(await bench.store.get(envelope.id)).toBeNull()
    }),
  )
})
