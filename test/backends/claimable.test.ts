import { describe, expect, it } from 'vitest'
import type { ClaimableJob } from '../../src/queue/contract/contract.ts'
import { ClaimableMemo } from '../../src/queue/rules/claiming/claimable.ts'

function counting() {
  let made = 0
  return new ClaimableMemo((jobs) => `${++made}: ${jobs.map(({ job, concurrency }) => `${job} ${concurrency}`).join(', ')}`)
}

describe('what is made of the jobs that a worker claims', () => {
  const jobs: ClaimableJob[] = [
    { job: 'mail', concurrency: null },
    { job: 'bill', concurrency: 2 },
  ]

  it('is made once for the same jobs, also in another list', () => {
    const memo = counting()
    expect([memo.of(jobs), memo.of(jobs), memo.of(jobs.map((each) => ({ ...each })))]).toEqual(
      Array.from({ length: 3 }, () => '1: mail null, bill 2'),
    )
  })

  it.each<[string, ClaimableJob[], string]>([
    ['another limit', [{ job: 'mail', concurrency: 1 }, ...jobs.slice(1)], 'mail 1, bill 2'],
    ['one more job', [...jobs, { job: 'scan', concurrency: null }], 'mail null, bill 2, scan null'],
    ['one job less', jobs.slice(0, 1), 'mail null'],
    ['no job', [], ''],
  ])('is made anew for %s', (_, changed, text) => {
    const memo = counting()
    memo.of(jobs)
    expect(memo.of(changed)).toBe(`2: ${text}`)
    expect(memo.of(jobs)).toBe('3: mail null, bill 2')
  })

  it('is made anew for a list that was changed since', () => {
    const memo = counting()
    const changing = [...jobs]
    memo.of(changing)
    changing.push({ job: 'scan', concurrency: null })
    expect(memo.of(changing)).toBe('2: mail null, bill 2, scan null')
  })
})
