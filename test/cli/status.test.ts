import { expect, test, vi } from 'vitest'
import type { Project } from '../../src/cli/project.ts'
import { readStatus, statusOf } from '../../src/cli/status.ts'
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

test('a broker without a store says how many jobs it holds, by queue', async () => {
  const counts = async () => [
    { queue: 'mail', ready: 3, scheduled: 2, running: 1, dead: 4 },
    { queue: 'default', ready: 1, scheduled: 0, running: 0, dead: 0 },
  ]
  const jobs = { open: async () => ({ kind: 'beanstalkd', backlog: { counts } }) }
  const status = await statusOf({ jobs, url: 'beanstalkd://127.0.0.1' } as unknown as Project, 0, true)
  expect(status.queues).toMatchObject([
    { queue: 'default', counts: { ready: 1 } },
    { queue: 'mail', counts: { ready: 3, scheduled: 2, running: 1, dead: 4, succeeded: 0 } },
  ])
  expect(status).toMatchObject({ jobs: [], schedules: [], workers: [] })
})
