import { expect, it } from 'vitest'
import { revisionOf, times } from '../../../src/testing/conformance/bench.ts'
import { entry, minute, occurrence, remade, scheduled, standing } from '../../../src/testing/conformance/schedules/schedules.ts'
import { onSqlDatabases } from './several-programs.ts'

const holding = 'SELECT revision FROM {schedule_revision} FOR UPDATE'

onSqlDatabases('schedules that several programs follow', (programs) => {
  it('are registered once by programs that start together, and changed once', () =>
    programs.open(4, async (benches) => {
      const [bench] = benches
      const before = await revisionOf(bench!.store.schedules)
      await Promise.all(benches.map(({ store }) => store.schedules.register([entry(), entry('0 0 * * *', 'UTC', 'other')])))
      expect(await revisionOf(bench!.store.schedules)).toBe(before + 2)
      await Promise.all(benches.map(({ store }) => store.schedules.register([remade(), entry('0 0 * * *', 'UTC', 'other')])))
      expect(await revisionOf(bench!.store.schedules)).toBe(before + 3)
    }))

  it('store each occurrence once, as a chain without a break', () =>
    programs.open(4, async (benches) => {
      const [bench] = benches
      const [first] = await scheduled(bench!, 0)
      const instants = times(50, (index) => first!.at + (index + 1) * minute)
      const answers = await Promise.all(
        benches.map((each) =>
          each.store.schedules.enqueue(instants.map((at) => ({ ...occurrence(each, at), follows: at - minute }))),
        ),
      )
      expect(answers.flat().filter((stored) => stored)).toHaveLength(instants.length)
      expect((await standing(bench!)).latest?.at).toBe(instants.at(-1))
      expect((await bench!.store.counts()).map(({ counts }) => [counts.ready, counts.scheduled])).toEqual([[1, instants.length]])
    }))

  it('store nothing after they were paused, and leave nothing that waits, whoever was at it', () =>
    programs.open(3, async (benches) => {
      const [bench, ...others] = benches
      await bench!.store.schedules.register([entry()])
      const start = bench!.clock.now()
      const storing = others.flatMap((each, program) =>
        times(20, (index) => each.store.schedules.enqueue([occurrence(each, start + (2 * index + program + 1) * minute)])),
      )
      const [isPaused, ...answers] = await Promise.all([bench!.store.schedules.change('digest', 'pause'), ...storing])
      expect([isPaused, answers.length]).toEqual([true, 40])
      expect(await bench!.store.list({ limit: 10 })).toEqual([])
      expect((await standing(bench!)).latest).toBe(null)
      expect(await programs.query('SELECT at FROM {occurrences}')).toEqual([])
      expect(await bench!.store.schedules.enqueue([occurrence(bench!, start + 99 * minute)])).toEqual([false])
    }))

  it('store nothing while one of them is being paused', () =>
    programs.open(1, async ([bench]) => {
      await bench!.store.schedules.register([entry()])
      const paused = [holding, `UPDATE {schedules} SET paused_at = 1 WHERE name = 'digest'`]
      const offer = occurrence(bench!, bench!.clock.now() + minute)
      expect(await programs.inTheWay(paused, () => bench!.store.schedules.enqueue([offer]))).toEqual([false])
      expect(await bench!.store.get(offer.envelope.id)).toBe(null)
    }))

  it('take back also what is being stored when one of them is paused', () =>
    programs.open(1, async ([bench]) => {
      const [, coming] = await scheduled(bench!, 1, 2)
      const { envelope, at } = occurrence(bench!, coming!.at + minute)
      const stored = [
        holding,
        `INSERT INTO {jobs} (id, lane, state, run_at, created_at, identity, payload, schedule)
         SELECT '${envelope.id}', lane, state, ${at}, created_at, identity, payload, schedule FROM {jobs} WHERE id = '${coming!.envelope.id}'`,
        `INSERT INTO {occurrences} (schedule, at, job_id, stored_at) VALUES ('digest', ${at}, '${envelope.id}', 1)`,
      ]
      await programs.inTheWay(stored, () => bench!.store.schedules.change('digest', 'pause'))
      expect(await bench!.store.list({ limit: 10 })).toEqual([])
      expect((await standing(bench!)).latest).toBe(null)
    }))

  it('take back no occurrence that is begun at the same moment', () =>
    programs.open(1, async ([bench]) => {
      const [due, coming] = await scheduled(bench!, 1, 2)
      const begun = `UPDATE {jobs} SET state = 3, started_at = 1, lease_until = 1 WHERE id = '${due!.envelope.id}'`
      await programs.inTheWay([begun], () => bench!.store.schedules.change('digest', 'pause'))
      expect((await bench!.record(due!.envelope.id)).state).toBe('running')
      expect(await bench!.store.get(coming!.envelope.id)).toBe(null)
      expect((await standing(bench!)).latest?.at).toBe(due!.at)
    }))

  it('skip no occurrence that is begun at the same moment', () =>
    programs.open(1, async ([bench]) => {
      const [first, second] = await scheduled(bench!, 1, 2)
      await bench!.clock.advance(3 * minute)
      const begun = `UPDATE {jobs} SET state = 3, started_at = 1, lease_until = 1 WHERE id = '${first!.envelope.id}'`
      const request = { schedule: 'digest', before: bench!.clock.now(), unseenOnly: false, why: 'late' }
      expect(await programs.inTheWay([begun], () => bench!.store.schedules.skipWaiting(request))).toBe(1)
      expect((await bench!.record(first!.envelope.id)).state).toBe('running')
      expect((await bench!.record(second!.envelope.id)).state).toBe('skipped')
    }))
})
