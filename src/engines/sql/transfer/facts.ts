import { type Steps, wait } from '../../../core/answer.ts'
import { type Fact, type FactPage, type FactRequest, factKinds, type MovedOccurrence } from '../../../queue/contract/transfer.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { UniqueKeys } from '../keys/unique-keys.ts'
import { untilNumber } from '../rows/job-row.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import { occurrenceRow } from './placing.ts'
import { occurrenceColumns, occurrencesWhere } from './reading.ts'
import { reservedUntil } from './removing.ts'

type Kind = Fact['kind']
type FactOf<Name extends Kind> = Extract<Fact, { readonly kind: Name }>

/** A page of facts of one kind, and where it ended; null if nothing of that kind follows. */
interface KindPage {
  readonly facts: readonly Fact[]
  readonly last: string | null
}

/** What the queue keeps besides jobs. The cursor is the kind and the key of the last fact. */
export function* factsOf(session: SqlSession, { after, limit }: FactRequest, time: QueueTime): Steps<FactPage> {
  const [kind, key] = after === null ? [factKinds[0], ''] : partsOf(after)
  const { facts, last } = yield* readers[kind](session, key, limit, time.now())
  if (last !== null) return { facts, after: `${kind}:${last}` }
  const next = factKinds[factKinds.indexOf(kind) + 1]
  return { facts, after: next === undefined ? null : `${next}:` }
}

function partsOf(after: string): readonly [Kind, string] {
  const seam = after.indexOf(':')
  return [after.slice(0, seam) as Kind, after.slice(seam + 1)]
}

type Reader = (session: SqlSession, after: string, limit: number, now: number) => Steps<KindPage>

const readers: Readonly<Record<Kind, Reader>> = {
  *numbers(session) {
    const [row] = yield* wait(session.all<{ next: number }>('SELECT next FROM {numbers} WHERE one = 1'))
    return { facts: row === undefined ? [] : [{ kind: 'numbers', next: row.next }], last: null }
  },
  *occurrence(session, after, limit) {
    const [schedule, at] = after === '' ? ['', -1] : (JSON.parse(after) as [string, number])
    const where = `schedule >= ? AND (schedule > ? OR at > ?) ORDER BY schedule, at LIMIT ${limit}`
    const found = yield* occurrencesWhere(session, where, [schedule, schedule, at])
    const facts = found.map((occurrence) => ({ kind: 'occurrence', occurrence }) as const)
    const end = found.at(-1)
    return { facts, last: end === undefined || found.length < limit ? null : JSON.stringify([end.schedule, end.at]) }
  },
  *once(session, after, limit, now) {
    const rows = yield* wait(
      session.all<OnceColumns>(
        `SELECT once_key, done_until, result, seal FROM {once} WHERE once_key > ? AND done_until > ? ORDER BY once_key LIMIT ${limit}`,
        [after, now],
      ),
    )
    const facts = rows.map(({ once_key, done_until, result, seal }) => {
      return { kind: 'once', key: once_key, until: done_until, result, seal } as const
    })
    return { facts, last: rows.length < limit ? null : (rows.at(-1)?.once_key ?? null) }
  },
  *unique(session, after, limit, now) {
    const rows = yield* wait(
      session.all<{ held_key: string; job_id: string; until: number | null }>(
        `SELECT held_key, job_id, until FROM {unique_keys}
         WHERE held_key > ? AND (until IS NULL OR (until > ? AND until < ${reservedUntil})) ORDER BY held_key LIMIT ${limit}`,
        [after, now],
      ),
    )
    const facts = rows.map(({ held_key, job_id, until }) => ({ kind: 'unique', key: held_key, jobId: job_id, until }) as const)
    return { facts, last: rows.length < limit ? null : (rows.at(-1)?.held_key ?? null) }
  },
}

interface OnceColumns {
  readonly once_key: string
  readonly done_until: number
  readonly result: string | null
  readonly seal: string | null
}

export interface LearningParts {
  readonly database: SqlDatabase
  readonly uniqueKeys: UniqueKeys
  readonly time: QueueTime
}

export function* learn({ database, uniqueKeys, time }: LearningParts, facts: readonly Fact[]): Steps<void> {
  const of = <Name extends Kind>(kind: Name) => facts.filter((fact): fact is FactOf<Name> => fact.kind === kind)
  yield* wait(
    database.transaction(function* (session) {
      for (const { next } of of('numbers')) {
        yield* wait(session.run('UPDATE {numbers} SET next = ? WHERE one = 1 AND next < ?', [next, next]))
      }
      yield* learnOccurrences(
        session,
        of('occurrence').map(({ occurrence }) => occurrence),
      )
      yield* learnOnce(session, of('once'))
      const keys = of('unique').map(({ key, jobId, until }) => ({
        held_key: key,
        job_id: jobId,
        until: until ?? untilNumber.ever,
      }))
      yield* uniqueKeys.take(session, keys, time.now())
    }),
  )
}

/** For an occurrence that is already known, only its end is new, and only if its job is not in this queue. */
function* learnOccurrences(session: SqlSession, occurrences: readonly MovedOccurrence[]): Steps<void> {
  if (occurrences.length === 0) return
  const rows = occurrences.map(occurrenceRow)
  const written = yield* wait(session.insertNew('occurrences', occurrenceColumns, rows, 'job_id'))
  const ended = rows.filter(({ job_id, outcome }) => outcome !== null && !written.has(job_id))
  if (ended.length === 0) return
  const open = yield* wait(
    session.all<{ job_id: string }>(
      `SELECT job_id FROM {occurrences} WHERE job_id IN (?) AND outcome IS NULL
       AND NOT EXISTS (SELECT 1 FROM {jobs} AS jobs WHERE jobs.id = job_id)`,
      [ended.map(({ job_id }) => job_id)],
    ),
  )
  const news = new Set(open.map(({ job_id }) => job_id))
  const changes = ended.filter(({ job_id }) => news.has(job_id))
  yield* wait(session.update('occurrences', ['job_id'], ['outcome', 'started_at', 'finished_at'], changes))
}

/** A key that is held here stays with its holder. Of two kept keys, the one kept for longer wins. */
function* learnOnce(session: SqlSession, keys: readonly FactOf<'once'>[]): Steps<void> {
  if (keys.length === 0) return
  const rows = keys.map(({ key, until, result, seal }) => {
    return { once_key: key, job_id: '', claimed_at: 0, done_until: until, result, seal }
  })
  const columns = ['once_key', 'job_id', 'claimed_at', 'done_until', 'result', 'seal'] as const
  const written = yield* wait(session.insertNew('once', columns, rows, 'once_key'))
  const others = rows.filter(({ once_key }) => !written.has(once_key))
  if (others.length === 0) return
  const question = 'SELECT once_key, done_until FROM {once} WHERE once_key IN (?) AND done_until IS NOT NULL'
  const kept = yield* wait(session.all<OnceColumns>(question, [others.map(({ once_key }) => once_key)]))
  const until = new Map(kept.map(({ once_key, done_until }) => [once_key, done_until]))
  const longer = others.filter(({ once_key, done_until }) => (until.get(once_key) ?? done_until) < done_until)
  yield* wait(session.update('once', ['once_key'], ['done_until', 'result', 'seal'], longer))
}
