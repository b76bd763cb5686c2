import type { Envelope } from '../../envelope/envelope.ts'
import { coordinationMissing } from '../../queue/backend/missing-coordination.ts'
import type { ClaimRules } from '../../queue/contract/limits.ts'

/** Rejects jobs whose features need a queue that knows all jobs. Checked on sending, before anything is stored. */
export function refuseUnsupportedJobs(envelopes: readonly Envelope[], uniqueKeys: 'refused' | 'carried'): void {
  for (const { job, uniqueKey, singleInstance, links } of envelopes) {
    if (links !== null) throw missing(`Job "${job}" is part of a workflow`, 'workflows')
    if (singleInstance) throw missing(`Job "${job}" must run alone`, 'limits')
    if (uniqueKey !== null && uniqueKeys === 'refused') throw missing(`Job "${job}" has a unique key`, 'unique keys')
  }
}

/** Limits are shared by all workers, and Service Bus has nowhere to count. Checked by each claim. */
export function refuseLimits({ jobs, queueLimits = [] }: ClaimRules): void {
  const limited = jobs.find(({ concurrency, rate, group }) => concurrency !== null || rate != null || hasLimits(group))
  if (limited !== undefined) throw missing(`Job "${limited.job}" has a limit of concurrency or rate`, 'limits')
  const queue = queueLimits.find(hasLimits)
  if (queue !== undefined) throw missing(`Queue "${queue.queue}" has a limit`, 'limits')
}

function hasLimits(limits: { readonly concurrency: number | null; readonly rate: unknown } | null | undefined): boolean {
  return limits != null && (limits.concurrency !== null || limits.rate !== null)
}

function missing(what: string, part: string): Error {
  return coordinationMissing(`${what}, and the service-bus backend has no ${part}`)
}
