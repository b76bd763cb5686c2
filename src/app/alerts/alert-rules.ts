import { formatDuration } from '../../core/time/duration.ts'
import type { ScheduleRecord } from '../../queue/contract/schedule-store.ts'
import type { JobCount, Paused } from '../../queue/contract/store.ts'
import type { WorkerRecord } from '../../queue/contract/stores/worker-store.ts'
import type { RuleConfig } from './alert-options.ts'

/** The data that rules are evaluated against. */
export interface AlertFacts {
  readonly now: number
  readonly counts: readonly JobCount[]
  readonly paused: Paused
  readonly workers: readonly WorkerRecord[]
  readonly schedules: readonly ScheduleRecord[]
  /** When a schedule should have run after its last run, according to the definitions in this process. */
  readonly expectedAfter: (schedule: string, last: number) => number | null
  /** The jobs that ended within the time window, as far as this process has observed them. */
  readonly endedIn: (ms: number, fits: (count: Pick<JobCount, 'queue' | 'job'>) => boolean) => Ended
}

export interface Ended {
  readonly succeeded: number
  readonly dead: number
}

/** Describes how the rule is violated; null if it is not. */
export function breachOf(rule: RuleConfig, facts: AlertFacts): string | null {
  switch (rule.rule) {
    case 'failureRate':
      return failureRate(rule, facts)
    case 'oldestAge':
      return oldestAge(rule, facts)
    case 'deadJobs':
      return deadJobs(rule, facts)
    case 'noWorker':
      return noWorker(rule, facts)
    case 'scheduleMissed':
      return scheduleMissed(rule, facts)
  }
}

/** The text of the alert's resolution. */
export function overText({ name }: RuleConfig, sinceMs: number): string {
  return `${name}: over after ${formatDuration(Math.max(1_000, Math.floor(sinceMs / 1_000) * 1_000))}`
}

function failureRate(rule: RuleConfig, { endedIn }: AlertFacts): string | null {
  const { succeeded, dead } = endedIn(rule.overMs, (count) => fits(rule, count))
  const ended = succeeded + dead
  if (ended < rule.atLeast || dead / ended <= rule.above) return null
  const share = Math.round((dead / ended) * 1_000) / 10
  return `${share} % of the ${ended} jobs${scopeText(rule)} that ended in the last ${formatDuration(rule.overMs)} failed for good (more than ${rule.above * 100} %)`
}

function oldestAge(rule: RuleConfig, { counts, paused, now }: AlertFacts): string | null {
  const isPaused = ({ queue, job }: JobCount) => paused.queues.includes(queue) || paused.jobs.includes(job)
  const waiting = counts.filter((count) => fits(rule, count) && count.oldestReadyAt != null && !isPaused(count))
  const oldest = waiting.toSorted((a, b) => (a.oldestReadyAt ?? now) - (b.oldestReadyAt ?? now))[0]
  const ageMs = oldest === undefined ? 0 : now - (oldest.oldestReadyAt ?? now)
  if (oldest === undefined || ageMs <= rule.above) return null
  const age = formatDuration(Math.floor(ageMs / 1_000) * 1_000)
  return `the oldest ready job of "${oldest.job}" in the queue "${oldest.queue}" has waited ${age} (more than ${formatDuration(rule.above)})`
}

function deadJobs(rule: RuleConfig, { counts }: AlertFacts): string | null {
  const dead = counts.filter((count) => fits(rule, count)).reduce((sum, { counts: states }) => sum + states.dead, 0)
  return dead <= rule.above
    ? null
    : `${dead === 1 ? '1 job' : `${dead} jobs`}${scopeText(rule)} ${dead === 1 ? 'is' : 'are'} dead (more than ${rule.above})`
}

function noWorker({ queue }: RuleConfig, { workers }: AlertFacts): string | null {
  const isServed = workers.some(({ queues }) => queue === null || queues === null || queues.includes(queue))
  if (isServed) return null
  return queue === null ? 'no worker is running' : `no worker takes jobs from the queue "${queue}"`
}

function scheduleMissed({ schedule, above }: RuleConfig, facts: AlertFacts): string | null {
  const missed = facts.schedules.filter(
    (record) => (schedule === null || record.name === schedule) && !record.paused && overdueAt(record, facts) < facts.now - above,
  )
  const [first, ...others] = missed
  if (first === undefined) return null
  const since = new Date(overdueAt(first, facts)).toISOString()
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `the schedule "${first.name}" should have run at ${since}${more}`
}

/** When the earliest run that has not started was due; infinity if there is none. */
function overdueAt({ name, last, nextAt, since }: ScheduleRecord, { expectedAfter }: AlertFacts): number {
  const waiting = last !== null && last.outcome === null && last.startedAt === null ? last.at : Number.POSITIVE_INFINITY
  const stored = nextAt ?? Number.POSITIVE_INFINITY
  // If no process follows schedules any more, no future run is stored.
  const expected =
    nextAt === null ? (expectedAfter(name, last?.at ?? since) ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
  return Math.min(waiting, stored, expected)
}

function fits({ queue, job }: RuleConfig, count: Pick<JobCount, 'queue' | 'job'>): boolean {
  return (queue === null || count.queue === queue) && (job === null || count.job === job)
}

function scopeText({ queue, job }: RuleConfig): string {
  return `${job === null ? '' : ` of "${job}"`}${queue === null ? '' : ` in the queue "${queue}"`}`
}
