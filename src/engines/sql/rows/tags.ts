import { type Steps, wait } from '../../../core/answer.ts'
import { tagsOf } from '../../../envelope/envelope.ts'
import type { SqlSession } from '../session.ts'

interface TaggedRow {
  readonly id: string
  /** The text that was signed. */
  readonly identity: string
}

/** Writes the tags of new jobs. Most have none. */
export function* writeTags(session: SqlSession, jobs: readonly TaggedRow[]): Steps<void> {
  const rows = jobs.flatMap(({ id, identity }) => tagRows(id, tagsOf(identity)))
  if (rows.length > 0) yield* wait(session.insertNew('tags', ['tag', 'job_id'], rows, 'job_id'))
}

/** Updates the tags of jobs whose identities were changed. */
export function* rewriteTags(session: SqlSession, identities: ReadonlyMap<string, string>): Steps<void> {
  const ids = [...identities.keys()].sort()
  if (ids.length === 0) return
  const question = 'SELECT tag, job_id FROM {tags} WHERE job_id IN (?)'
  const stored = yield* wait(session.all<{ tag: string; job_id: string }>(question, [ids]))
  const changed = ids.filter((id) => {
    const before = stored.filter(({ job_id }) => job_id === id).map(({ tag }) => tag)
    const after = new Set(tagsOf(identities.get(id) as string))
    return before.length !== after.size || before.some((tag) => !after.has(tag))
  })
  if (changed.length === 0) return
  yield* wait(session.run('DELETE FROM {tags} WHERE job_id IN (?)', [changed]))
  yield* writeTags(
    session,
    changed.map((id) => ({ id, identity: identities.get(id) as string })),
  )
}

function tagRows(job_id: string, tags: readonly string[]) {
  return [...new Set(tags)].map((tag) => ({ tag, job_id }))
}
