import { type Steps, wait } from '../../../core/answer.ts'
import type { SqlSession } from '../session.ts'

/** Deletes the log lines and tags of deleted jobs. Most jobs have neither and cost only one lookup. */
export function* forgetBeside(session: SqlSession, ids: readonly string[]): Steps<void> {
  const found = yield* wait(
    session.all<{ kind: string }>(
      `SELECT 'logs' AS kind FROM {logs} WHERE job_id IN (?) UNION SELECT 'tags' AS kind FROM {tags} WHERE job_id IN (?)`,
      [ids, ids],
    ),
  )
  for (const { kind } of found)
    yield* wait(
      session.run(kind === 'logs' ? 'DELETE FROM {logs} WHERE job_id IN (?)' : 'DELETE FROM {tags} WHERE job_id IN (?)', [ids]),
    )
}
