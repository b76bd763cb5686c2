import { shown } from '../core/shown.ts'
import { defaultMisfire, type MisfirePolicy, misfirePolicy } from '../scheduling/misfire.ts'
import type { Schedule } from '../scheduling/schedule.ts'
import { type DeliveryMode, deliveryProblems } from './delivery.ts'
import { type Dependency, dependencyProblem } from './dependency.ts'
import type { DefinitionFields, Keep } from './fields.ts'
import { givenValues } from './given-values.ts'
import { type Grouping, groupingProblems } from './grouping.ts'
import { type Isolation, isolationProblems } from './isolation.ts'
import { type Meta, metaProblem, travellingMeta } from './meta.ts'
import { jobNameProblem, keyProblem, queueProblem, refuse } from './names.ts'
import { concurrencyOf, type Overlap, overlapOf, overlapProblems } from './overlap.ts'
import { priorityProblem } from './priority.ts'
import { type RateLimit, rateProblem } from './rate.ts'
import type { RetryPolicy } from './retry.ts'
import { type KeyOf, type Uniqueness, unique, uniquenessProblems } from './uniqueness.ts'

export { type DefinitionFields, definitionDefaults, type Filter, type FilterContext, type Keep } from './fields.ts'

/** What a job is: complete, checked and frozen. Each `withX` gives a changed copy and leaves this one as it is. */
export class JobDefinition {
  readonly fields: DefinitionFields

  constructor(fields: DefinitionFields) {
    refuse(`Job ${JSON.stringify(fields.job)}`, problemsOf(fields))
    this.fields = Object.freeze({ ...givenValues(fields), meta: travellingMeta(fields.meta) })
    Object.freeze(this)
  }

  get job(): string {
    return this.fields.job
  }

  get maxRetries(): number {
    return this.fields.maxAttempts - 1
  }

  get singleInstance(): boolean {
    return this.concurrency === 1
  }

  /** How many may run at once, over all workers; null is unlimited. */
  get concurrency(): number | null {
    return concurrencyOf(this.fields)
  }

  get overlap(): Overlap {
    return overlapOf(this.fields)
  }

  get misfire(): MisfirePolicy {
    const { misfire, schedule } = this.fields
    // Without a schedule nothing can be missed, and any policy will do.
    return misfire ?? (schedule === null ? misfirePolicy('skip') : defaultMisfire(schedule))
  }

  /** After so much time an attempt has failed; null is no limit. */
  get deadlineMs(): number | null {
    return this.fields.timeoutMs ?? this.fields.maxRunningTimeMs
  }

  /** Whether its schedule is followed where the program's environment is this one. */
  isFollowedIn(environment: string | null): boolean {
    const { schedule, enabled, environments } = this.fields
    const here = environments.length === 0 || (environment !== null && environments.includes(environment))
    return schedule !== null && enabled && here
  }

  with(changes: Partial<DefinitionFields>): JobDefinition {
    return new JobDefinition({ ...this.fields, ...changes })
  }

  withName(name: string): JobDefinition {
    return this.with({ name })
  }

  withQueue(queue: string): JobDefinition {
    return this.with({ queue })
  }

  withPriority(priority: number): JobDefinition {
    return this.with({ priority })
  }

  withMaxRetries(maxRetries: number): JobDefinition {
    return this.with({ maxAttempts: maxRetries + 1 })
  }

  withMaxAttempts(maxAttempts: number): JobDefinition {
    return this.with({ maxAttempts })
  }

  withRetry(retry: RetryPolicy): JobDefinition {
    return this.with({ retry })
  }

  withTimeout(timeoutMs: number | null): JobDefinition {
    return this.with({ timeoutMs })
  }

  withMaxRunningTime(maxRunningTimeMs: number | null): JobDefinition {
    return this.with({ maxRunningTimeMs })
  }

  withIsolation(isolation: Isolation | null): JobDefinition {
    return this.with({ isolation })
  }

  withConcurrency(concurrency: number | null): JobDefinition {
    return this.with({ concurrency })
  }

  withRate(rate: RateLimit | null): JobDefinition {
    return this.with({ rate })
  }

  withGroup(group: Grouping | null): JobDefinition {
    return this.with({ group })
  }

  withSingleInstance(singleInstance = true): JobDefinition {
    return this.with({ concurrency: singleInstance ? 1 : null })
  }

  /** A function alone makes keys that are held until the job has ended. */
  withUnique(given: KeyOf | Uniqueness | null): JobDefinition {
    return this.with({ unique: typeof given === 'function' ? unique(given) : given })
  }

  withIdempotencyKey(key: string | KeyOf | null): JobDefinition {
    return this.with({ idempotencyKey: typeof key === 'string' ? () => key : key })
  }

  withDelivery(delivery: DeliveryMode): JobDefinition {
    return this.with({ delivery })
  }

  withSchedule(schedule: Schedule | null): JobDefinition {
    return this.with({ schedule })
  }

  withOverlap(overlap: Overlap | null): JobDefinition {
    return this.with({ overlap })
  }

  withMisfire(misfire: MisfirePolicy | null): JobDefinition {
    return this.with({ misfire })
  }

  withAfter(...after: readonly string[]): JobDefinition {
    return this.with({ after })
  }

  withDependsOn(...dependsOn: readonly (string | Dependency)[]): JobDefinition {
    return this.with({ dependsOn: dependsOn.map((each) => (typeof each === 'string' ? { job: each, onFailure: 'skip' } : each)) })
  }

  withEnvironments(...environments: readonly string[]): JobDefinition {
    return this.with({ environments })
  }

  withEnabled(enabled: boolean): JobDefinition {
    return this.with({ enabled })
  }

  withMeta(meta: Meta): JobDefinition {
    return this.with({ meta })
  }

  withArgs(args: unknown): JobDefinition {
    return this.with({ args })
  }

  withKeep(keep: Partial<Keep>): JobDefinition {
    return this.with({ keep })
  }
}

function problemsOf(fields: DefinitionFields): readonly (string | undefined)[] {
  const { maxAttempts, concurrency, timeoutMs, maxRunningTimeMs } = fields
  return [
    jobNameProblem(fields.job),
    // Without a name of its own the job is called by its key, of which enough is said.
    fields.name === fields.job ? undefined : jobNameProblem(fields.name, 'name'),
    queueProblem(fields.queue),
    priorityProblem(fields.priority),
    isPositive(maxAttempts) ? undefined : `maxAttempts must be a whole number of at least 1, got ${shown(maxAttempts)}`,
    concurrency === null || isPositive(concurrency)
      ? undefined
      : `concurrency must be a whole number of at least 1, got ${shown(concurrency)}`,
    timeoutMs === null || timeoutMs > 0 ? undefined : `timeout must be more than 0 ms, got ${timeoutMs}`,
    maxRunningTimeMs === null || maxRunningTimeMs > 0
      ? undefined
      : `maxRunningTime must be more than 0 ms, got ${maxRunningTimeMs}`,
    timeoutMs === null || maxRunningTimeMs === null
      ? undefined
      : 'timeout and maxRunningTime are two answers to one question: give one of them',
    ...(fields.isolation === null ? [] : isolationProblems(fields.isolation)),
    fields.rate === null ? undefined : rateProblem(fields.rate, 'rate'),
    ...(fields.group === null ? [] : groupingProblems(fields.group)),
    ...overlapProblems(fields),
    ...deliveryProblems(fields.delivery, maxAttempts, fields.isolation !== null),
    ...(fields.unique === null ? [] : uniquenessProblems(fields.unique)),
    ...fields.after.map((job) => jobNameProblem(job, 'a job that it comes after')),
    ...fields.dependsOn.map(dependencyProblem),
    metaProblem(fields.meta),
    ...Object.entries(fields.keep).map(([outcome, keptMs]) => keepProblem(outcome, keptMs)),
    ...fields.environments.map((environment) => keyProblem(environment, 'an environment')),
  ]
}

const outcomes: Readonly<Record<keyof Keep, true>> = { succeeded: true, dead: true, cancelled: true, skipped: true }

function keepProblem(outcome: string, keptMs: number): string | undefined {
  const known = Object.keys(outcomes)
  if (!known.includes(outcome)) return `keep knows ${known.join(', ')}, got ${JSON.stringify(outcome)}`
  return keptMs >= 0 ? undefined : `keep.${outcome} must be a number of milliseconds, got ${keptMs}`
}

function isPositive(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1
}
