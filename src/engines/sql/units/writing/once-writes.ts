import { type Steps, wait } from '../../../../core/answer.ts'
import { randomToken } from '../../../../core/id.ts'
import type { LoadedQueue } from '../loaded/loaded-queue.ts'

/** Writes the idempotency keys of jobs that succeeded, with their results. */
export function* writeOnceMarks({ rows: { session }, marks: known }: LoadedQueue): Steps<void> {
  const marks = known.changes().flatMap(([, , mark]) => mark ?? [])
  if (marks.length === 0) return
  const rows = marks.map(({ key, result, seal, expiresAt }) => ({
    once_key: key,
    job_id: '',
    claimed_at: 0,
    done_until: expiresAt,
    result,
    seal,
  }))
  const columns = ['once_key', 'job_id', 'claimed_at', 'done_until', 'result', 'seal'] as const
  yield* wait(session.upsert('once', columns, rows, ['once_key'], ['done_until', 'result', 'seal']))
}

/** Writes which idempotency keys jobs hold that arrive from another queue, and forgets those of jobs that leave. */
export function* writeHeldOnce({ rows: { session }, holders, keysOf, now }: LoadedQueue, claims: OnceClaims): Steps<void> {
  const released = keysOf.changes().flatMap(([, before, after]) => (after === undefined ? (before ?? []) : []))
  if (released.length > 0) {
    yield* wait(session.run('DELETE FROM {once} WHERE once_key IN (?) AND done_until IS NULL', [released]))
  }
  const held = holders.changes().flatMap(([once_key, before, job]) => {
    if (before !== undefined || job === undefined) return []
    const { id } = job.envelope
    return [{ once_key, job_id: id, claimed_at: now, seal: claims.get(id) as string }]
  })
  if (held.length === 0) return
  yield* wait(session.insertNew('once', ['once_key', 'job_id', 'claimed_at', 'seal'], held, 'once_key'))
}

/** The claims under which jobs hold idempotency keys, by job id. Their rows have the same. */
export type OnceClaims = ReadonlyMap<string, string>

export function onceClaims({ holders }: LoadedQueue): OnceClaims {
  const jobs = holders
    .changes()
    .flatMap(([, before, job]) => (before === undefined && job !== undefined ? [job.envelope.id] : []))
  return new Map([...new Set(jobs)].map((id) => [id, randomToken()]))
}
