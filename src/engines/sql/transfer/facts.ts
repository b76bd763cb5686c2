import { type Steps, wait } from '../../../core/answer.ts'
import { type Fact, type FactPage, type FactRequest, factKinds } from '../../../queue/contract/transfer.ts'
import { learnFact } from '../../../queue/rules/transfer/learning.ts'
import { movedOccurrence } from '../../../queue/rules/transfer/moved-jobs.ts'
import { reservedUntil } from '../../../queue/rules/transfer/moved-units.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { storedOccurrence } from '../rows/schedule-record.ts'
import { holdRevision } from '../schedules/schedule-revision.ts'
import type { SqlSession } from '../session.ts'
import type { LoadedQueue } from '../units/loaded/loaded-queue.ts'
import { occurrencesWhere } from '../units/reading/occurrence-readers.ts'
import type { Unit, Units } from '../units/units.ts'
import { wantFacts } from './loading.ts'

type Kind = Fact['kind']

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
    const where = `found.schedule >= ? AND (found.schedule > ? OR found.at > ?) ORDER BY found.schedule, found.at LIMIT ${limit}`
    const found = yield* occurrencesWhere(session, where, [schedule, schedule, at])
    const facts = found.map((row) => ({ kind: 'occurrence', occurrence: movedOccurrence(storedOccurrence(row)) }) as const)
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

/** Adds facts that are not known here yet. */
export function* learn(units: Units, facts: readonly Fact[], time: QueueTime): Steps<void> {
  let next = 0
  const rule = (queue: LoadedQueue) => {
    wantFacts(queue, facts)
    const numbers = {
      startFrom(number: number) {
        next = Math.max(next, number)
      },
    }
    for (const fact of facts) learnFact({ ...queue.rules, numbers }, fact, queue.now)
  }
  const work = function* (unit: Unit) {
    if (facts.some(({ kind }) => kind === 'occurrence')) yield* holdRevision(unit.session)
    yield* unit.decide([], rule)
    if (next > 0) yield* wait(unit.session.run('UPDATE {numbers} SET next = ? WHERE one = 1 AND next < ?', [next, next]))
  }
  yield* units.within(time, work, { isAlone: false })
}
