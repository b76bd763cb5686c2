import { expect, test } from 'vitest'
import { answerOf } from '../../../src/core/answer.ts'
import { CrowdedLanes } from '../../../src/engines/sql/lanes/crowded-lanes.ts'
import { crowdedFrom, type Lane } from '../../../src/engines/sql/lanes/lane-numbers.ts'
import type { Lanes } from '../../../src/engines/sql/lanes/lanes.ts'
import type { SqlDatabase } from '../../../src/engines/sql/session.ts'

const request = { jobs: [], queues: null, leaseMs: 1_000, owner: 'test', maxRescues: 1 }
const others = [{ names: [], globs: ['mail/*'], mark: 'mock~', marked: 'left out' }] as const

function laneOf(lane: number, job: string): Lane {
  return { lane, queue: 'default', job, priority: 5, single: 0, recurring: 0, grouped: 0 }
}

test.each([true, false])('the first jobs are often all that a claim by pattern has to read (one writer: %s)', async (isAlone) => {
  const sizes: unknown[] = []
  const dialect = { isAlone, crowd: { from: '{jobs}', is: 'state = 0', at: 'crowd' } }
  const all = (_: string, values: readonly unknown[]) => {
    sizes.push(values.at(-1))
    return Array.from({ length: Number(values.at(-1)) }, (_, index) => ({ lane: crowdedFrom + index }))
  }
  const numbered = function* (_: unknown, numbers: readonly number[]) {
    return numbers.map((number) => laneOf(number, `mail/${number}`))
  }
  const crowd = new CrowdedLanes({ dialect, all } as unknown as SqlDatabase, { numbered } as unknown as Lanes)
  const { lanes, isAll } = await answerOf(crowd.open({ ...request, limit: 3, others }))
  const read = isAlone ? 3 : 23
  expect(sizes).toEqual([read])
  expect([lanes.length, isAll]).toEqual([read, false])
})
