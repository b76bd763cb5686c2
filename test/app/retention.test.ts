import { treadle } from 'treadle'
import { ManualClock } from 'treadle/testing'
import { expect, test } from 'vitest'

const day = 86_400_000

test('a definition says for itself how long its jobs are kept (X16)', async () => {
  const clock = new ManualClock()
  await using jobs = treadle('memory:', { clock, keep: { succeeded: '2d' } })
  const brief = jobs.define('brief', async () => {}).keep({ succeeded: '1d' })
  const long = jobs.define('long', async () => {}).keep({ succeeded: '7d' })
  const other = jobs.define('other', async () => {})
  for (const job of [brief, long, other]) await job.dispatch()
  await jobs.run()
  const kept = async () => (await (await jobs.store()).list({ limit: 10 })).map(({ job }) => job).sort()

  await clock.advance(day + 1)
  expect(await jobs.prune()).toBe(1)
  expect(await kept()).toEqual(['long', 'other'])
  await clock.advance(day)
  expect(await jobs.prune()).toBe(1)
  expect(await kept()).toEqual(['long'])
  await clock.advance(5 * day)
  expect(await jobs.prune()).toBe(1)
  expect(await kept()).toEqual([])
})
