import { formatDuration } from '../../core/time/duration.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { Overlap } from '../../definition/policies/overlap.ts'
import type { MisfirePolicy } from '../../scheduling/misfire.ts'

/** The limits on the runs of a job. */
export interface RunLimits {
  /** How long an attempt may take before it fails; null means no limit. */
  readonly timeout: string | null
  readonly maxRunningTime: string | null
  /** Maximum number of jobs that run at once; null means no limit. */
  readonly concurrency: number | null
}

/** The rules for the runs of a schedule. */
export interface RunRules {
  readonly overlap: Overlap
  readonly misfire: string
}

export function limitsOf({ fields, concurrency }: JobDefinition): RunLimits {
  const { timeoutMs, maxRunningTimeMs } = fields
  return { timeout: durationOrNull(timeoutMs), maxRunningTime: durationOrNull(maxRunningTimeMs), concurrency }
}

export function rulesOf({ overlap, misfire }: { readonly overlap: Overlap; readonly misfire: MisfirePolicy }): RunRules {
  return { overlap, misfire: misfireText(misfire) }
}

/** `all within 1d, at most 100`. */
function misfireText(misfire: MisfirePolicy): string {
  const within = misfire.withinMs === null ? '' : ` within ${formatDuration(misfire.withinMs)}`
  return `${misfire.kind}${within}${misfire.kind === 'all' ? `, at most ${misfire.cap}` : ''}`
}

/** `timeout 30s, concurrency 3`. */
export function limitsText({ timeout, maxRunningTime, concurrency }: RunLimits): string {
  const parts = [
    ...(timeout === null ? [] : [`timeout ${timeout}`]),
    ...(maxRunningTime === null ? [] : [`runs at most ${maxRunningTime}`]),
    ...(concurrency === null ? [] : [`concurrency ${concurrency}`]),
  ]
  return parts.join(', ') || '-'
}

function durationOrNull(ms: number | null): string | null {
  return ms === null ? null : formatDuration(ms)
}
