import { expect, test, vi } from 'vitest'
import type { Project } from '../../src/cli/project.ts'
import { readStatus } from '../../src/cli/status.ts'
import { world } from '../world.ts'

test('the status is read from counters alone, with the age of what waits', async () => {
  const { jobs, backend, clock } = world()
  const start = clock.now()
  await jobs.declare('mail').queue('mail').dispatch({ size: 'large' })
  await clock.advance(60_000)
  await jobs.declare('report').dispatch({})
  await jobs.declare('later').dispatch({}, { delay: '1h' })
  const { store } = backend
  const reads = [vi.spyOn(store, 'list'), vi.spyOn(store, 'get')]
  const project = { jobs, url: 'memory:' } as Project
  const { queues } = await readStatus(project, store, clock.now(), true)
  expect(queues).toMatchObject([
    { queue: 'default', counts: { ready: 1, scheduled: 1 }, oldestReadyAt: new Date(start + 60_000).toISOString() },
    { queue: 'mail', counts: { ready: 1 }, oldestReadyAt: new Date(start).toISOString() },
  ])
  for (const read of reads) expect(read).not.toHaveBeenCalled()
})
