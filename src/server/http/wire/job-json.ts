import type { Job, JobSummary } from '../../../client/api/job-shapes.ts'
import type { Json } from '../../../core/text/json.ts'
import { shownText } from '../../../envelope/encryption.ts'
import { saidRetries } from '../../../envelope/envelope.ts'
import { shownMessage } from '../../../envelope/stored-error.ts'
import type { JobRecord } from '../../../queue/contract/store.ts'
import { verbatim } from './verbatim.ts'

export function jobJson(record: JobRecord): Job {
  const { payload, result, progress, meta, timeoutMs, repeat, number, rescues, idempotencyKey, errors } = record
  return {
    ...commonOf(record),
    payload: opened(payload),
    result: opened(result),
    progress: opened(progress),
    meta,
    timeoutMs,
    repeat,
    number,
    rescues,
    idempotencyKey,
    errors: errors.map((error) => ({ ...error, message: shownMessage(error.message), at: iso(error.at) })),
  }
}

export function summaryJson(record: JobRecord): JobSummary {
  const last = record.errors.at(-1)
  return { ...commonOf(record), lastError: last === undefined ? null : shownMessage(last.message) }
}

function commonOf(record: JobRecord): Omit<JobSummary, 'lastError'> {
  const { id, job, name, queue, state, priority, attempts, group, tags, uniqueKey } = record
  const { schedule, parent, root, reason, owner, cancelRequested } = record
  return {
    id,
    job,
    name,
    queue,
    state,
    priority,
    attempts,
    maxRetries: saidRetries(record.identity),
    group,
    tags,
    uniqueKey,
    schedule,
    parent,
    root,
    reason,
    createdAt: iso(record.createdAt),
    runAt: iso(record.runAt),
    startedAt: isoOrNull(record.startedAt),
    finishedAt: isoOrNull(record.finishedAt),
    owner,
    leaseExpiresAt: isoOrNull(record.leaseExpiresAt),
    cancelRequested,
    ...(record.spoilt !== undefined && { spoilt: true, faults: record.spoilt }),
  }
}

export function iso(ms: number): string {
  return new Date(ms).toISOString()
}

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms)
}

/** A stored text that is not valid JSON is shown as a string. */
function opened(text: string | null): Json {
  if (text === null) return null
  const shown = shownText(text)
  try {
    JSON.parse(shown)
    return verbatim(shown)
  } catch {
    return text
  }
}
