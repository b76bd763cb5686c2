import { type Steps, wait } from '../../../core/answer.ts'
import type { AmendAnswer, JobChange } from '../../../queue/contract/store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { isJobId } from '../rows/lease-token.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { LoadedQueue } from '../units/loaded/loaded-queue.ts'
import { NewLanes } from '../units/loaded/new-lanes.ts'
import { needs } from '../units/reading/needs.ts'
import type { Units } from '../units/units.ts'

export interface AmendingParts {
  readonly database: SqlDatabase
  readonly units: Units
  readonly lanes: Lanes
  /** Another connection, for when the transaction may see an old snapshot of the database. */
  readonly beside?: SqlSession
}

/** Gives waiting jobs a new payload, time and place, or rejects them; jobs in other states only if that is asked for. */
export class Amending {
  readonly #parts: AmendingParts

  constructor(parts: AmendingParts) {
    this.#parts = parts
  }

  *amend(changes: readonly JobChange[], time: QueueTime): Steps<readonly AmendAnswer[]> {
    const { units } = this.#parts
    const amendments = changes.filter((change) => 'envelope' in change)
    const schedules = yield* this.#schedulesOf(amendments.map(({ id }) => id).filter(isJobId))
    const lanes = new NewLanes(this.#parts.lanes)
    for (const isRecurring of [false, true]) {
      const meant = amendments.filter(({ id }) => schedules.has(id) && (schedules.get(id) !== null) === isRecurring)
      const envelopes = meant.map(({ envelope }) => envelope)
      if (envelopes.length > 0) yield* lanes.prepare(envelopes, isRecurring)
    }
    // A job that has appeared since then is left alone: its lane is not known.
    const known = changes.filter((change) => !('envelope' in change) || schedules.has(change.id))
    const due = known.map((change) => dueChange(change, time))
    const sealed = due.flatMap((change) => ('expected' in change && change.expected !== null ? [change.id] : []))
    const rule = (queue: LoadedQueue) => {
      const compared = sealed.filter((id) => queue.job(id) !== undefined)
      queue.want(needs('body', compared))
      return queue.rules.managing.amend(due)
    }
    const ids = due.map(({ id }) => id)
    const answers = ids.length === 0 ? [] : (yield* units.run(ids, time, rule, lanes)).answer
    const byChange = new Map(known.map((change, index) => [change, answers[index] as AmendAnswer]))
    return changes.map((change) => byChange.get(change) ?? 'missing')
  }

  /** The schedules of the jobs that exist. */
  *#schedulesOf(ids: readonly string[]): Steps<ReadonlyMap<string, string | null>> {
    if (ids.length === 0) return new Map()
    const { database, beside } = this.#parts
    const question = 'SELECT id, schedule FROM {jobs} WHERE id IN (?)'
    const rows = yield* wait(database.all<{ id: string; schedule: string | null }>(question, [ids]))
    const seen = new Map(rows.map(({ id, schedule }) => [id, schedule]))
    if (seen.size === ids.length || beside === undefined) return seen
    const others = yield* wait(beside.all<{ id: string; schedule: string | null }>(question, [ids]))
    return new Map([...others.map(({ id, schedule }) => [id, schedule] as const), ...seen])
  }
}

function dueChange(change: JobChange, time: QueueTime): JobChange {
  if ('runAt' in change) return { ...change, runAt: time.dueAt(change.runAt) }
  if (!('envelope' in change)) return change
  return { ...change, envelope: { ...change.envelope, runAt: time.dueAt(change.envelope.runAt) } }
}
