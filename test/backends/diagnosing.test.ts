import { describe, expect, test } from 'vitest'
import { TreadleError } from '../../src/core/errors.ts'
import { judgeTransactions } from '../../src/engines/sql/upkeep/diagnosing.ts'
import { judgeConnections, runChecks, well } from '../../src/queue/upkeep/diagnosis.ts'

describe('a diagnosis', () => {
  test.each([
    [50, 100, 'ok'],
    [92, 100, 'warning'],
    [880, 1_000, 'ok'],
    [950, 1_000, 'warning'],
    [100, 100, 'problem'],
  ])('of %i connections of %i is: %s', (used, most, verdict) => {
    expect(judgeConnections(used, most)).toMatchObject({ verdict, found: `${used} of ${most} in use` })
  })

  test.each([
    [[], 'ok', 'none for more than 5 minutes'],
    [[4, 1], 'ok', 'none for more than 5 minutes'],
    [[12, 7, 2], 'warning', 'one for 12 minutes (somebody), and 1 more'],
    [[90], 'problem', 'one for 90 minutes (somebody)'],
  ] as const)('of transactions that have been open for %j minutes is: %s', (minutes, verdict, found) => {
    expect(judgeTransactions(minutes.map((each) => ({ minutes: each, who: 'somebody' })))).toMatchObject({ verdict, found })
  })

  test('goes on after a look that fails, and takes a missing right for less than a failure', async () => {
    const failing = (code: 'DATABASE_DENIED' | 'DATABASE_FAILED') => async () => {
      throw new TreadleError(code, 'no')
    }
    const findings = await runChecks('yes', {
      denied: failing('DATABASE_DENIED'),
      failed: failing('DATABASE_FAILED'),
      sound: async (found) => well(found),
    })
    expect(findings.map(({ check, verdict, found }) => [check, verdict, found])).toEqual([
      ['denied', 'warning', 'could not be checked: no'],
      ['failed', 'problem', 'could not be checked: no'],
      ['sound', 'ok', 'yes'],
    ])
  })
})
