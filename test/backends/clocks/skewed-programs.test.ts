import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../../src/app/treadle.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { systemClock } from '../../../src/core/time/clock.ts'
import { SqlGround } from '../sql-ground.ts'
import { skewedClock, sqlEngines } from './clock-ground.ts'

const tenMinutes = 600_000
/** A minute of a schedule may begin while the test runs. */
const minute = 60_000

describe.each(sqlEngines)('a program whose clock is off by ten minutes, on %s', (engine) => {
  const ground = new SqlGround(engine)
  const opened: Treadle[] = []
  beforeAll(() => ground.start())
  afterAll(() => ground.stop())
  afterEach(async () => {
    for (const program of opened.splice(0)) await program.close()
  })

  async function programs(aheadMs: number): Promise<readonly [Treadle, Treadle]> {
    await (await ground.open(systemClock))[Symbol.asyncDispose]()
    for (const clock of [systemClock, skewedClock(aheadMs)]) {
      opened.push(treadle(ground.url, { clock, logger: silentLogger, signingKey: 'a secret of more than sixteen bytes' }))
    }
    return opened as [Treadle, Treadle]
  }

  describe.each([
    ['ahead', tenMinutes],
    ['behind', -tenMinutes],
  ])('%s', (_, aheadMs) => {
    test('puts a job off by as long as it says', async () => {
      const [right, skewed] = await programs(aheadMs)
      const before = systemClock.now()
      const { id } = await skewed.define('later', (_: null) => {}).dispatch(null, { delay: '1h' })
      const after = systemClock.now()
      const { runAt = 0 } = (await (await right.store()).get(id)) ?? {}
      expect(runAt).toBeGreaterThan(before + 60 * minute - minute)
      expect(runAt).toBeLessThan(after + 60 * minute + minute)
    })

    test('runs what another one sends, and what a schedule stored, when it is due', async () => {
      const [right, skewed] = await programs(aheadMs)
      const ran: string[] = []
      skewed.define('sent', (_: null) => void ran.push('sent'))
      skewed
        .define('beat', () => void ran.push('beat'))
        .everyMinute()
        .misfire('skip')
      await right.define('sent', (_: null) => {}).dispatch(null)
      const report = await skewed.run()
      expect(report).toMatchObject({ succeeded: ran.length, skipped: 0 })
      expect(ran).toContain('sent')
      const schedules = await right.schedules.list()
      const [beat] = schedules
      expect(beat?.nextAt).toBeGreaterThan(systemClock.now() - minute)
      expect(beat?.nextAt).toBeLessThanOrEqual(systemClock.now() + minute)
    })
  })
})
