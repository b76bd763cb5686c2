import { expect, test } from 'vitest'
import { Batcher } from '../../../src/core/batcher.ts'
import { nextTurn } from '../../../src/core/time/clock.ts'
import { GroupCommit } from '../../../src/server/jobs/group-commit.ts'

/** Callers whose requests are carried out together, and a time that is moved by hand. */
function gathering() {
  const time = { ms: 0 }
  const groupCommit = new GroupCommit(() => time.ms)
  const flushed: string[][] = []
  const batcher = new Batcher<string, void>(
    async (items) => {
      flushed.push([...items])
      return []
    },
    100,
    (pending) => groupCommit.gather(pending),
  )
  const callers = new Map<string, object>()
  const ask = (name: string): Promise<void> => {
    const caller = callers.get(name) ?? { name }
    callers.set(name, caller)
    groupCommit.saw(caller)
    return batcher.add(name)
  }
  return { time, groupCommit, flushed, ask }
}

test('who is alone does not wait', async () => {
  const { ask, flushed } = gathering()
  await ask('a')
  await ask('a')
  expect(flushed).toEqual([['a'], ['a']])
})

test('what those who are about ask for is carried out together, although they come one after the other', async () => {
  const { ask, flushed } = gathering()
  await Promise.all([ask('a'), ask('b')])
  const first = ask('a')
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  expect(flushed).toHaveLength(1)
  await Promise.all([first, ask('b')])
  expect(flushed).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
})

test('one that does not come is not waited for for long, and later not at all', async () => {
  const { ask, flushed, time, groupCommit } = gathering()
  await Promise.all([ask('a'), ask('b')])
  const alone = ask('a')
  await nextTurn()
  expect(flushed).toHaveLength(1)
  time.ms += 0.3
  await alone
  expect(flushed).toEqual([['a', 'b'], ['a']])

  time.ms += 5
  expect(groupCommit.size).toBe(2)
  time.ms += 5
  expect(groupCommit.size).toBe(0)
  await ask('a')
  expect(flushed).toHaveLength(3)
})

test('one that asks again and again is one', () => {
  const { groupCommit } = gathering()
  const caller = {}
  for (let time = 0; time < 10; time++) groupCommit.saw(caller)
  expect(groupCommit.size).toBe(1)
})
