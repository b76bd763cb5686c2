import { type Steps, wait } from '../../../core/answer.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { LoadedQueue } from '../units/loaded/loaded-queue.ts'
import { needs } from '../units/reading/needs.ts'
import type { Unit, Units } from '../units/units.ts'

/** Maximum number of jobs that one call ends because they waited too long. */
const mostTimeouts = 1_000

/** Ends jobs that have waited too long for others. */
export class WaitTimeouts {
  readonly #database: SqlDatabase
  readonly #units: Units

  constructor(database: SqlDatabase, units: Units) {
    this.#database = database
    this.#units = units
  }

  *giveUp(time: QueueTime): Steps<void> {
    // Takes no lock if there is nothing to end.
    if ((yield* overdue(this.#database, time.now())).length === 0) return
    yield* wait(this.#units.alone(time, giveUpAll))
  }
}

function* giveUpAll(unit: Unit): Steps<void> {
  const ids = yield* overdue(unit.session, unit.now)
  const { answer: strays } = yield* unit.decide(ids, (queue) => giveUp(queue, ids))
  if (strays.length === 0) return
  yield* wait(unit.session.run('UPDATE {links} SET gives_up_at = NULL, ending = NULL WHERE id IN (?)', [strays]))
}

/** Returns the jobs that are not waiting: they would otherwise be found here forever. */
function giveUp(queue: LoadedQueue, ids: readonly string[]): readonly string[] {
  const strays = ids.filter((id) => queue.job(id)?.state !== 'blocked')
  queue.want(needs('awaited', ids))
  queue.rules.endings.giveUp(queue.now)
  return strays
}

function* overdue(session: SqlSession, now: number): Steps<readonly string[]> {
  const rows = yield* wait(
    session.all<{ id: string }>(`SELECT id FROM {links} WHERE gives_up_at <= ? ORDER BY gives_up_at, id LIMIT ${mostTimeouts}`, [
      now,
    ]),
  )
  return rows.map(({ id }) => id)
}
