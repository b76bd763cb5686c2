import { masked } from '../../../../core/text/masking.ts'
import type { JobRecord } from '../../../../queue/contract/store.ts'
import type { JobRow } from '../../shared/views/job.ts'
import type { Redaction } from './redaction.ts'

const longestError = 400

/** A job in a list, without its potentially large parts. */
export function rowOf(record: JobRecord, redaction: Redaction): JobRow {
  const { id, job, name, queue, state, priority, attempts, maxRetries, group, tags, schedule, root, reason } = record
  const { createdAt, runAt, startedAt, finishedAt, owner, leaseExpiresAt, cancelRequested } = record
  const last = record.errors.at(-1)?.message
  return {
    id,
    job,
    name,
    queue,
    state,
    priority,
    attempts,
    maxRetries,
    group,
    tags,
    schedule,
    root,
    reason,
    createdAt,
    runAt,
    startedAt,
    finishedAt,
    owner,
    leaseExpiresAt,
    cancelRequested,
    lastError: last === undefined ? null : masked(last).slice(0, longestError),
    progress: redaction.hidesPayloads ? null : shareOf(record.progress),
    spoilt: record.spoilt !== undefined,
  }
}

/** Progress as a number from 0 to 1; also reads percentages from the member names commonly used for them. */
function shareOf(progress: string | null): number | null {
  if (progress === null || progress.length > 10_000) return null
  try {
    const value: unknown = JSON.parse(progress)
    if (typeof value === 'number') return share(value)
    if (typeof value !== 'object' || value === null) return null
    const { percent, progress: inner } = value as { readonly percent?: unknown; readonly progress?: unknown }
    return typeof percent === 'number' ? share(percent / 100) : typeof inner === 'number' ? share(inner) : null
  } catch {
    return null
  }
}

function share(value: number): number | null {
  return Number.isFinite(value) ? Math.min(1, Math.max(0, value > 1 ? value / 100 : value)) : null
}
