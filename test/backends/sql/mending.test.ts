import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { sendWaiting } from '../../../src/testing/conformance/workflows/links.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { SqlGround } from '../sql-ground.ts'

describe.each(['postgres', 'mariadb'] as const)(
  'in %s, a job that waits in vain is found and set right (demand 29)',
  (engine) => {
    const ground = new SqlGround(engine)
    let bench: Bench
    beforeAll(() => ground.start())
    beforeEach(async () => {
      const clock = new ManualClock()
      bench = new Bench(await ground.open(clock), clock)
    })
    afterEach(() => bench.backend[Symbol.asyncDispose]())
    afterAll(() => ground.stop())

    const states = async (...ids: readonly string[]) => Promise.all(ids.map(async (id) => (await bench.record(id)).state))

    it('when the job that it waits for has ended and nobody told it', async () => {
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first])
      await ground.query(`UPDATE {jobs} SET state = 4, finished_at = 1, result = '7' WHERE id = '${first}'`)
      expect(await bench.store.sweep({ part: 'waits', limit: 10 })).toEqual({ looked: 1, changed: 1 })
      expect(await states(second)).toEqual(['ready'])
      expect((await bench.store.links(second))[0]).toMatchObject({ state: 'succeeded', result: '7', waiting: false })
      expect((await bench.claimOne()).envelope.id).toBe(second)
    })

    it('when the job that it waits for is gone, with what follows from that', async () => {
      const first = await bench.sendOne()
      const [second, rescuer] = [await sendWaiting(bench, [first]), await sendWaiting(bench, [first], 'rescue')]
      const third = await sendWaiting(bench, [second], 'ignore')
      await ground.query(`DELETE FROM {jobs} WHERE id = '${first}'`)
      expect(await bench.store.sweep({ part: 'waits', limit: 10 })).toMatchObject({ changed: 2 })
      expect(await states(second, third, rescuer)).toEqual(['dead', 'ready', 'ready'])
    })

    it('when its counter is wrong, in either direction', async () => {
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first])
      await ground.query('UPDATE {links} SET pending = 5')
      expect(await bench.store.sweep({ part: 'waits', limit: 10 })).toEqual({ looked: 1, changed: 1 })
      expect(await states(second)).toEqual(['blocked'])
      await ground.query('UPDATE {edges} SET waiting = 0')
      expect(await bench.store.sweep({ part: 'waits', limit: 10 })).toEqual({ looked: 1, changed: 1 })
      expect(await states(second)).toEqual(['ready'])
    })

    it('a part at a time, going on where the last look ended', async () => {
      const first = await bench.sendOne()
      for (let count = 0; count < 5; count++) await sendWaiting(bench, [first])
      expect(await bench.store.sweep({ part: 'waits', limit: 2 })).toEqual({ looked: 2, changed: 0 })
      await ground.query(`UPDATE {jobs} SET state = 6, finished_at = 1 WHERE id = '${first}'`)
      expect(await bench.store.sweep({ part: 'waits', limit: 2 })).toEqual({ looked: 2, changed: 2 })
      expect(await bench.store.sweep({ part: 'waits', limit: 2 })).toEqual({ looked: 1, changed: 1 })
      expect(await bench.store.sweep({ part: 'waits', limit: 2 })).toEqual({ looked: 2, changed: 2 })
      expect(await bench.store.sweep({ part: 'waits', limit: 2 })).toEqual({ looked: 0, changed: 0 })
    })
  },
)
