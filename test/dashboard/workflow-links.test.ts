import { expect, test } from 'vitest'
import { WorkflowLinks } from '../../src/server/dashboard/views/workflow-links.ts'
import { world } from '../world.ts'

test('what jobs wait for is read once while they wait and when they have ended, and anew while and after they run', async () => {
  const { jobs, backend, clock } = world()
  const child = jobs.define('child', () => {})
  const parent = jobs.define('parent', async (_: unknown, ctx) => void (await ctx.dispatchChild(child)))
  const first = await jobs.define('first', () => {}).dispatch()
  const { id } = await parent.dispatch({}, { dependsOn: [first] })
  let reads = 0
  const links = new WorkflowLinks({
    links: (asked) => {
      reads++
      return backend.store.links(asked)
    },
  })
  const kinds = async () => {
    const record = await backend.store.get(id)
    return record === null ? [] : (await links.of(record)).map(({ kind }) => kind)
  }
  expect([await kinds(), await kinds(), reads]).toEqual([['dependency'], ['dependency'], 1])
  await jobs.run()
  await clock.advance(60_000)
  await jobs.run()
  expect([await kinds(), await kinds(), reads]).toEqual([['dependency', 'child'], ['dependency', 'child'], 2])
})
