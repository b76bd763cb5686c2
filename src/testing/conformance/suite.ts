import { TreadleError } from '../../core/errors.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import { ManualClock } from '../manual-clock.ts'
import { Bench } from './bench.ts'

/** The part of a test framework that the suite uses; vitest and `node:test` both provide it. */
export interface TestRunner {
  describe(title: string, define: () => void): unknown
  readonly it: ((title: string, run: () => Promise<void>) => unknown) & {
    readonly skip?: (title: string, run: () => Promise<void>) => unknown
  }
}

/** What the conformance suite needs to know about the backend under test. */
export interface ConformanceOptions {
  /** Opens an empty backend that uses this clock. The suite closes it. */
  readonly open: (clock: Clock) => Promise<QueueBackend>
  /** Runs a statement directly on the backend's database, for tables that the tests write to in transactions. */
  readonly execute?: (sql: string) => Promise<unknown>
  /** What the backend does not support, by the exact title of a test or a whole group, and why. */
  readonly gaps?: Readonly<Record<string, string>>
}

/** The optional part of the contract that a group of tests needs. */
export type Part = 'store' | 'coordination' | 'transactions' | 'logs' | 'rollups' | 'events' | 'transfer' | 'patterns'

export interface Group {
  readonly title: string
  readonly needs: readonly Part[]
  readonly tests: Readonly<Record<string, (bench: Bench) => Promise<void>>>
}

export function runGroups(runner: TestRunner, name: string, groups: readonly Group[], options: ConformanceOptions): void {
  const gaps = new Map(Object.entries(options.gaps ?? {}))
  refuseUnknownGaps(gaps, groups)
  runner.describe(`the ${name} backend`, () => {
    for (const group of groups) {
      runner.describe(group.title, () => {
        for (const [title, test] of Object.entries(group.tests)) {
          const gap = gaps.get(group.title) ?? gaps.get(title)
          const run = () => runOnFreshBackend(test, options)
          if (gap === undefined) runner.it(title, run)
          else runner.it.skip?.(`${title} (gap: ${gap})`, run)
        }
      })
    }
  })
}

async function runOnFreshBackend(test: (bench: Bench) => Promise<void>, options: ConformanceOptions): Promise<void> {
  const clock = new ManualClock()
  await using backend = await options.open(clock)
  await test(new Bench(backend, clock, options.execute))
}

/** A gap that matches no test would hide that the test was renamed or fixed. */
function refuseUnknownGaps(gaps: ReadonlyMap<string, string>, groups: readonly Group[]): void {
  const known = new Set(groups.flatMap((group) => [group.title, ...Object.keys(group.tests)]))
  const unknown = [...gaps.keys()].filter((title) => !known.has(title))
  if (unknown.length > 0) {
    throw new TreadleError('CONFIG_INVALID', `These gaps name no test of the conformance suite: ${unknown.join('; ')}`)
  }
}
