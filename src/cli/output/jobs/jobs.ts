import { shownText } from '../../../envelope/encryption.ts'
import { saidRetries } from '../../../envelope/envelope.ts'
import { shownMessage } from '../../../envelope/stored-error.ts'
import type { JobState } from '../../../queue/contract/job-state.ts'
import type { JobRecord } from '../../../queue/contract/store.ts'
import type { Colours, Output } from '../output.ts'
import { relativeTime } from '../time.ts'

/** Jobs as a table, with what a person needs to pick one. */
export function jobTable(jobs: readonly JobRecord[], out: Output, now: number): string {
  return out.table(
    [
      { head: 'ID', cell: (job) => job.id, whole: true, rank: 0, cut: { rank: 3, to: 13 } },
      { head: 'JOB', cell: (job) => job.job, least: 10, rank: 2 },
      {
        head: 'STATE',
        cell: (job) => job.state,
        style: (text, job) => stateColour(out.colours, job.state)(text),
        whole: true,
        rank: 1,
      },
      { head: 'QUEUE', cell: (job) => job.queue, rank: 5 },
      { head: 'TRIES', cell: (job) => attemptsText(job, '/'), align: 'right', whole: true, rank: 6 },
      { head: 'WHEN', cell: (job) => whenOf(job, now), whole: true, rank: 4 },
      { head: 'NOTE', cell: noteOf, least: 12, style: (text) => out.colours.dim(text), rank: 7 },
    ],
    jobs,
  )
}

/** A job for programs: JSON texts are parsed, instants are ISO 8601. */
export function jobJson(record: JobRecord): object {
  // These repeat what other fields say.
  const { identity: _, signature: __, ...job } = record
  return {
    ...job,
    payload: opened(shownText(job.payload)),
    result: opened(shownText(job.result)),
    progress: opened(shownText(job.progress)),
    errors: job.errors.map((error) => ({ ...error, message: shownMessage(error.message), at: iso(error.at) })),
    createdAt: iso(job.createdAt),
    runAt: iso(job.runAt),
    startedAt: iso(job.startedAt),
    finishedAt: iso(job.finishedAt),
    leaseExpiresAt: iso(job.leaseExpiresAt),
  }
}

/** How many attempts were started, and the maximum if the job sets it; otherwise the worker's definition decides. */
export function attemptsText({ attempts, identity }: JobRecord, between: string): string {
  const retries = saidRetries(identity)
  return retries === null ? String(attempts) : `${attempts}${between}${retries + 1}`
}

export function stateColour(colours: Colours, state: JobState): (text: string) => string {
  switch (state) {
    case 'succeeded':
      return colours.green
    case 'dead':
      return colours.red
    case 'running':
      return colours.cyan
    case 'blocked':
    case 'scheduled':
      return colours.yellow
    case 'cancelled':
    case 'skipped':
      return colours.dim
    case 'ready':
      return (text) => text
  }
}

export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** The value of a JSON text, or the text itself if it is not JSON. */
export function opened(text: string | null): unknown {
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function whenOf(job: JobRecord, now: number): string {
  switch (job.state) {
    case 'running':
      return `started ${relativeTime(job.startedAt ?? job.createdAt, now)}`
    case 'scheduled':
      return `due ${relativeTime(job.runAt, now)}`
    case 'ready':
    case 'blocked':
      return `waits since ${relativeTime(job.runAt, now)}`
    default:
      return `ended ${relativeTime(job.finishedAt ?? job.createdAt, now)}`
  }
}

function noteOf(job: JobRecord): string {
  if (job.cancelRequested && job.state === 'running') return 'asked to stop'
  const error = job.errors.at(-1)
  const last = error && shownMessage(error.message)
  if (job.state === 'dead') return [job.reason, last].filter((part) => part).join(': ')
  if (job.state === 'skipped') return job.reason ?? ''
  return last !== undefined && job.state !== 'succeeded' ? `last error: ${last}` : ''
}
