import { expect, test } from 'vitest'
import { openMemory } from '../../src/engines/memory/index.ts'
import { move } from '../../src/moving/index.ts'
import { attackedSqlQueue, sqlEngines } from './attacked-queue.ts'

test.each(sqlEngines)('a unique key that somebody has spoilt stays in %s, and the other jobs are moved', async (engine) => {
  const queue = await attackedSqlQueue(engine)
  const mail = queue.jobs.declare('mail')
  const [spoilt, sound] = [await mail.dispatch({}), await mail.dispatch({}, { unique: { key: 'ada' } })]
  await queue.forge(spoilt.id, { unique_key: 'of no job' })
  await using to = openMemory({ clock: queue.clock })
  await queue.clock.advance(1_000)
  const report = await move({ from: queue.backend, to })
  expect(report).toMatchObject({ moved: 1, unreadable: [spoilt.id] })
  expect(await to.store.get(sound.id)).toMatchObject({ state: 'ready', uniqueKey: 'ada' })
})
