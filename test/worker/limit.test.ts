import { expect, it, onTestFinished, vi } from 'vitest'
import { gate, world } from '../world.ts'

it('a pass with a limit starts that many also when it gives jobs back that waited too long in its hands', async () => {
  const { jobs, clock } = world()
  const { open, opened } = gate()
  const quick = 200
  const job = jobs.define('work', async (n: number) => {
    if (n >= quick) await opened
  })
  await job.dispatchMany(Array.from({ length: 600 }, (_, n) => n))
  const passing = jobs.run({ limit: 500 })
  await clock.advance(100)

  const now = performance.now.bind(performance)
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 10_000)
  onTestFinished(() => later.mockRestore())
  await clock.advance(2_000)
  open()
  await clock.advance(5_000)

  const report = await passing
  expect(report.released).toBeGreaterThan(0)
  expect(report.succeeded).toBe(500)
})
