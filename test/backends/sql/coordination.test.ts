import { expect, it } from 'vitest'
import { times } from '../../../src/testing/conformance/bench.ts'
import { onSqlDatabases } from './several-programs.ts'

onSqlDatabases('what several programs share', (programs) => {
  it('a lock goes to one of them, again and again', () =>
    programs.open(3, async (benches) => {
      const { clock } = benches[0]!
      for (let round = 0; round < 10; round++) {
        const answers = await Promise.all(
          benches.flatMap(({ coordination }, program) =>
            times(3, (index) => coordination.lock('scheduler', { owner: `${program}.${index}`, host: 'h', pid: 1 }, 1_000)),
          ),
        )
        expect(answers.filter(({ held }) => held)).toHaveLength(1)
        await clock.advance(1_000)
      }
    }))

  it('a lock that one owner takes twice at once is held both times', () =>
    programs.open(2, async (benches) => {
      const holder = { owner: 'me', host: 'h', pid: 1 }
      const answers = await Promise.all(times(12, (index) => benches[index % 2]!.coordination.lock('mine', holder, 60_000)))
      expect(answers).toEqual(times(12, () => ({ held: true })))
    }))

  it('an idempotency key is claimed by one of the jobs that ask for it', () =>
    programs.open(3, async (benches) => {
      const [bench] = benches
      await bench!.send(...times(9, () => ({})))
      const leases = await bench!.claim()
      for (let round = 0; round < 10; round++) {
        const answers = await Promise.all(
          leases.map(({ envelope }, index) => benches[index % 3]!.coordination.claimOnce(`key ${round}`, envelope.id)),
        )
        expect(answers.map(({ kind }) => kind).sort()).toEqual([...times(8, () => 'busy'), 'claimed'])
      }
    }))

  it('an idempotency key that a job left behind is claimed by one of the jobs that ask for it', () =>
    programs.open(3, async (benches) => {
      const [bench] = benches
      await bench!.send(...times(7, () => ({})))
      const [ended, ...leases] = await bench!.claim()
      const keys = times(20, (index) => `key ${index}`)
      for (const key of keys) await bench!.coordination.claimOnce(key, ended!.envelope.id)
      await bench!.settle(bench!.dead(ended!))
      for (const key of keys) {
        const answers = await Promise.all(
          leases.map(({ envelope }, index) => benches[index % 3]!.coordination.claimOnce(key, envelope.id)),
        )
        expect(answers.map(({ kind }) => kind).sort()).toEqual([...times(5, () => 'busy'), 'claimed'])
      }
    }))

  it('idempotency keys of jobs that ended without a result are swept when they are old, those of running jobs stay', () =>
    programs.open(1, async ([bench]) => {
      await bench!.send({}, {})
      const [one, two] = await bench!.claim({ leaseMs: 90 * 60_000 })
      await bench!.coordination.claimOnce('ended', one!.envelope.id)
      await bench!.coordination.claimOnce('running', two!.envelope.id)
      await bench!.settle(bench!.dead(one!))
      await bench!.clock.advance(60 * 60_000 - 1)
      expect((await bench!.store.sweep({ part: 'keys', limit: 10 })).changed).toBe(0)
      await bench!.clock.advance(1)
      // What only was held is no key whose time is over, so it is not counted.
      expect((await bench!.store.sweep({ part: 'keys', limit: 10 })).changed).toBe(0)
      expect(await programs.query('SELECT job_id FROM {once}')).toEqual([{ job_id: two!.envelope.id }])
    }))
})
