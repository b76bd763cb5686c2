import { shown } from '../core/text/shown.ts'
import type { DefinitionFields, Keep } from './fields.ts'
import { metaProblem } from './meta.ts'
import { backendNameProblem, jobNameProblem, keyProblem, queueProblem } from './names.ts'
import { deliveryProblems } from './policies/delivery.ts'
import { dependencyProblem } from './policies/dependency.ts'
import { groupingProblems } from './policies/grouping.ts'
import { isolationProblems } from './policies/isolation.ts'
import { overlapProblems } from './policies/overlap.ts'
import { priorityProblem } from './policies/priority.ts'
import { rateProblem } from './policies/rate.ts'
import { uniquenessProblems } from './policies/uniqueness.ts'
import { storedKey, storedPrefix } from './recurrence.ts'
import { tagsProblem } from './tags.ts'

/** What is wrong with the complete fields of a definition. Undefined stands for nothing. */
export function definitionProblems(fields: DefinitionFields): readonly (string | undefined)[] {
  const { maxAttempts, concurrency, timeoutMs, maxRunningTimeMs } = fields
  return [
    jobNameProblem(fields.job),
    fields.schedule !== null && storedKey(fields.job) !== null
      ? `a job with a schedule must not be called ${storedPrefix}…: that prefix is reserved for schedules that are created at run time`
      : undefined,
    // A job without a name uses its key, which is already checked above.
    fields.name === fields.job ? undefined : jobNameProblem(fields.name, 'name'),
    queueProblem(fields.queue),
    fields.backend === null ? undefined : backendNameProblem(fields.backend),
    priorityProblem(fields.priority),
    isPositive(maxAttempts) ? undefined : `maxAttempts must be a whole number of at least 1, got ${shown(maxAttempts)}`,
    concurrency === null || isPositive(concurrency)
      ? undefined
      : `concurrency must be a whole number of at least 1, got ${shown(concurrency)}`,
    timeoutMs === null || timeoutMs > 0 ? undefined : `timeout must be more than 0 ms, got ${shown(timeoutMs)}`,
    maxRunningTimeMs === null || maxRunningTimeMs > 0
      ? undefined
      : `maxRunningTime must be more than 0 ms, got ${shown(maxRunningTimeMs)}`,
    timeoutMs === null || maxRunningTimeMs === null
      ? undefined
      : 'timeout and maxRunningTime exclude each other: give one of them',
    ...(fields.isolation === null ? [] : isolationProblems(fields.isolation)),
    fields.rate === null ? undefined : rateProblem(fields.rate, 'rate'),
    ...(fields.group === null ? [] : groupingProblems(fields.group)),
    ...overlapProblems(fields),
    ...deliveryProblems(fields.delivery, maxAttempts, fields.isolation !== null),
    ...(fields.unique === null ? [] : uniquenessProblems(fields.unique)),
    ...fields.after.map((job) => jobNameProblem(job, 'a job that it comes after')),
    ...fields.dependsOn.map(dependencyProblem),
    metaProblem(fields.meta),
    tagsProblem(fields.tags),
    ...Object.entries(fields.keep).map(([outcome, keptMs]) => keepProblem(outcome, keptMs)),
    ...fields.environments.map((environment) => keyProblem(environment, 'an environment')),
  ]
}

const outcomes: Readonly<Record<keyof Keep, true>> = { succeeded: true, dead: true, cancelled: true, skipped: true }

function keepProblem(outcome: string, keptMs: number): string | undefined {
  const known = Object.keys(outcomes)
  if (!known.includes(outcome)) return `keep knows ${known.join(', ')}, got ${shown(outcome)}`
  return keptMs >= 0 ? undefined : `keep.${outcome} must be a number of milliseconds, got ${shown(keptMs)}`
}

function isPositive(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1
}
