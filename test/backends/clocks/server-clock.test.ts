import { expect, test } from 'vitest'
import { ServerClock } from '../../../src/engines/servers/server-clock.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { loggerInto } from '../../world.ts'

/** A server whose clock is that of the machine, and whose questions and answers take as long as the test says. */
function slowServer() {
  const clock = new ManualClock(1_000_000)
  const takes = { thereMs: 0, backMs: 0, setByMs: 0 }
  const pass = (ms: number) => clock.advance(ms)
  const ask = async () => {
    await pass(takes.thereMs)
    const now = clock.now() + takes.setByMs
    await pass(takes.backMs)
    return now
  }
  const serverClock = new ServerClock({ clock, logger: loggerInto([]), ask, elapsedMs: () => clock.now() })
  return { clock, serverClock, takes, offMs: () => serverClock.now() - clock.now() }
}

test.each([
  ['the question', { thereMs: 900, backMs: 0 }],
  ['the answer', { thereMs: 0, backMs: 900 }],
])(
  'a server clock that is known well is not replaced by what a program without processor time measures: %s was late',
  async (_, late) => {
    for (const quick of [
      { thereMs: 0, backMs: 2 },
      { thereMs: 2, backMs: 0 },
    ]) {
      const { serverClock, takes, offMs } = slowServer()
      Object.assign(takes, quick)
      await serverClock.measure()
      expect(Math.abs(offMs())).toBeLessThanOrEqual(1)
      Object.assign(takes, late)
      await serverClock.measure()
      expect(Math.abs(offMs())).toBeLessThanOrEqual(1)
    }
  },
)

test('a server clock that was set is noticed, however slow the answers are', async () => {
  const { serverClock, takes, offMs } = slowServer()
  await serverClock.measure()
  Object.assign(takes, { thereMs: 100, backMs: 100, setByMs: 5_000 })
  await serverClock.measure()
  expect(offMs()).toBe(5_000)
})

test('a measurement that a slow answer made rough is repeated after two seconds instead of ten', async () => {
  const { clock, serverClock, takes, offMs } = slowServer()
  Object.assign(takes, { thereMs: 900 })
  await serverClock.measure()
  expect(offMs()).toBe(450)
  Object.assign(takes, { thereMs: 0 })
  await clock.advance(2_001)
  void serverClock.check()
  await serverClock.settled()
  expect(offMs()).toBe(0)
})
