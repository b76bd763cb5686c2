import type { ClaimRules, Hold, HoldRule, Rate } from '../../contract/limits.ts'
import { rateScope } from './rate-scope.ts'
import { nextTokenAt, type RateLog, tokensLeft } from './rate-window.ts'

/** What a backend knows about a ready job and the jobs running next to it. */
export interface HoldFacts {
  readonly job: string
  readonly queue: string
  readonly group: string | null
  /** Whether a ready job of its key must run alone. */
  readonly isAlone: boolean
  readonly runningOfKey: number
  readonly runningInQueue: number
  readonly runningInGroup: number
  readonly logOf: (scope: string) => RateLog
  readonly now: number
}

/** The limits that keep the job from being claimed now. */
export function holdsOf(facts: HoldFacts, rules: ClaimRules): readonly Hold[] {
  const { job, queue, group } = facts
  const limits = rules.jobs.find((each) => each.job === job)
  const ofQueue = rules.queueLimits?.find((each) => each.queue === queue)
  const ofGroup = group === null ? null : limits?.group
  const holds = [
    facts.isAlone
      ? runningHold('single', 1, facts.runningOfKey)
      : runningHold('concurrency', limits?.concurrency, facts.runningOfKey),
    rateHold('rate', limits?.rate, rateScope.job(job), facts),
    runningHold('group-concurrency', ofGroup?.concurrency, facts.runningInGroup),
    rateHold('group-rate', ofGroup?.rate, rateScope.group(job, group ?? ''), facts),
    runningHold('queue-concurrency', ofQueue?.concurrency, facts.runningInQueue),
    rateHold('queue-rate', ofQueue?.rate, rateScope.queue(queue), facts),
  ]
  return holds.filter((hold) => hold !== null)
}

function runningHold(rule: HoldRule, limit: number | null | undefined, running: number): Hold | null {
  if (limit === null || limit === undefined || running < limit) return null
  return { rule, limit, running, until: null }
}

function rateHold(rule: HoldRule, rate: Rate | null | undefined, scope: string, { logOf, now }: HoldFacts): Hold | null {
  if (rate === null || rate === undefined) return null
  const log = logOf(scope)
  if (tokensLeft(log, rate, now) > 0) return null
  return { rule, limit: rate.limit, running: null, until: nextTokenAt(log, rate, now) }
}
