import { type Steps, wait } from '../../../core/answer.ts'
import type { KeptKey } from '../../../queue/rules/keys/once-keys.ts'
import type { SqlSession } from '../session.ts'

/** Writes the idempotency keys of jobs that succeeded, with their results. */
export function* writeOnceMarks(session: SqlSession, marks: readonly KeptKey[]): Steps<void> {
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
