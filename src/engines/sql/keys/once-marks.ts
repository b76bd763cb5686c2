import { type Steps, wait } from '../../../core/answer.ts'
import { digest } from '../../../core/text/digest.ts'
import type { OnceMark } from '../../../queue/contract/contract.ts'
import type { SqlSession } from '../session.ts'

/** Keeps the idempotency keys of jobs that succeeded, with their results. */
export class OnceMarks {
  *keep(session: SqlSession, once: OnceMark | null | undefined, result: string | null, now: number): Steps<void> {
    if (once == null) return
    const row = {
      once_key: digest(once.key),
      job_id: '',
      claimed_at: 0,
      done_until: now + once.keepMs,
      result: once.result === undefined ? result : once.result,
      seal: once.seal ?? null,
    }
    const columns = ['once_key', 'job_id', 'claimed_at', 'done_until', 'result', 'seal'] as const
    yield* wait(session.upsert('once', columns, [row], ['once_key'], ['done_until', 'result', 'seal']))
  }
}
