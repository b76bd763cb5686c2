import { treadle } from 'treadle'
import { drain, ManualClock } from 'treadle/testing'
import { expect, test } from 'vitest'

test('a unique key does not keep a scheduled job from its next run', async () => {
  const clock = new ManualClock()
  await using jobs = treadle('memory:', { clock })
  let runs = 0
  jobs
    .define('tick', async () => void runs++)
    .everyMinute()
    .unique('only-one')
  await drain(jobs, { clock, for: '5m' })
  expect(runs).toBe(6)
})
