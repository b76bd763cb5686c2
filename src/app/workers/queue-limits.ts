import { messageOf } from '../../core/errors.ts'
import { unknownOptions } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'
import { queueProblem } from '../../definition/names.ts'
import { type RateLimit, type RateOptions, rateOf, rateOptionProblems, rateProblem } from '../../definition/policies/rate.ts'
import type { QueueLimits } from '../../queue/contract/contract.ts'

/** Limits shared by all jobs of a queue. */
export interface QueueOptions {
  /** Maximum number of jobs of the queue that run at once, across all workers. */
  readonly concurrency?: number
  /** Maximum number of jobs of the queue that start within a period, across all workers. */
  readonly rate?: RateOptions
}

/** Problems are added to the list. */
export function queueLimitsOf(queues: unknown, problems: string[]): readonly QueueLimits[] {
  if (queues === undefined) return []
  if (typeof queues !== 'object' || queues === null || Array.isArray(queues)) {
    problems.push('queues must be an object of queues, each with its limits, such as { mail: { concurrency: 5 } }')
    return []
  }
  return Object.entries(queues).map(([queue, options]) => limitsOf(queue, options, problems))
}

function limitsOf(queue: string, options: unknown, problems: string[]): QueueLimits {
  const what = `queues.${queue}`
  const none = { queue, concurrency: null, rate: null }
  const wrongName = queueProblem(queue)
  if (wrongName !== undefined) problems.push(`queues: ${wrongName}`)
  if (typeof options !== 'object' || options === null) {
    problems.push(`${what} must be an object with concurrency or rate, got ${shown(options)}`)
    return none
  }
  problems.push(...unknownOptions(options, ['concurrency', 'rate']).map((problem) => `${what}: ${problem}`))
  const { concurrency, rate } = options as QueueOptions
  const isSound = concurrency === undefined || (Number.isSafeInteger(concurrency) && concurrency >= 1)
  if (!isSound) problems.push(`${what}.concurrency must be a whole number of at least 1, got ${shown(concurrency)}`)
  return { queue, concurrency: concurrency ?? null, rate: rate === undefined ? null : rateOr(rate, `${what}.rate`, problems) }
}

function rateOr(options: RateOptions, what: string, problems: string[]): RateLimit | null {
  const found = rateOptionProblems(options, what)
  problems.push(...found)
  if (found.length > 0) return null
  try {
    const rate = rateOf(options, what)
    const problem = rateProblem(rate, what)
    if (problem !== undefined) problems.push(problem)
    return rate
  } catch (thrown) {
    problems.push(messageOf(thrown))
    return null
  }
}
