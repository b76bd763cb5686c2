import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { treadle } from '../../../src/index.ts'
import { freshPrefix, redisUrl } from '../redis-ground.ts'

/** What means something in keys, patterns, hash tags, scripts or objects. */
const names = [
  '*',
  '?[a-z]',
  '{x}',
  '}{',
  'a b',
  '日本語 😀',
  "o'brien",
  '"quoted"',
  '../..',
  '__proto__',
  'constructor',
  '%s %d',
  '$1',
]

describe.skipIf(redisUrl() === null)('names with signs that mean something elsewhere', () => {
  test('are kept apart to the letter, as jobs, tags, groups and keys', async () => {
    const jobs = treadle(`${redisUrl()}?prefix=${freshPrefix()}`, { unsigned: true, logger: silentLogger })
    const ran: string[] = []
    const defined = names.map((name) => jobs.define(name, async () => void ran.push(name)))
    for (const [index, job] of defined.entries()) {
      const name = names[index] as string
      await job.dispatch({}, { tags: [name], group: name })
      await job.dispatch({}, { delay: '1h', unique: name })
      expect((await job.dispatch({}, { delay: '1h', unique: name })).created).toBe(false)
    }
    await jobs.run()
    expect(ran.toSorted()).toEqual(names.toSorted())
    const store = await jobs.store()
    for (const name of names) {
      expect((await store.list({ tag: name, limit: 9 })).map(({ job }) => job)).toEqual([name])
      expect((await store.list({ job: name, state: 'scheduled', limit: 9 })).map(({ uniqueKey }) => uniqueKey)).toHaveLength(1)
      expect(await store.counts({ job: name })).toMatchObject([{ job: name, counts: { succeeded: 1, scheduled: 1, ready: 0 } }])
    }
    await jobs.close()
  })
})
