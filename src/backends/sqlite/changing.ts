import type { JobStore, ProgressReport } from '../store.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Lanes } from './lanes.ts'
import type { Outcomes } from './outcomes.ts'
import { stateNumber } from './schema.ts'
import { readToken } from './token.ts'
import type { KeyedRow, UniqueKeys } from './unique-keys.ts'

type Answer<Method extends 'cancel' | 'reschedule'> = Awaited<ReturnType<JobStore[Method]>>
type RetryAnswer = Awaited<ReturnType<JobStore['retry']>>[number]

interface ChangingParts {
  readonly lanes: Lanes
  readonly addresses: Addresses
  readonly outcomes: Outcomes
  readonly uniqueKeys: UniqueKeys
}

interface Found extends KeyedRow {
  readonly seq: number
  readonly lane: number
  readonly state: number
}

/** Changes jobs on people's word. */
export class Changing {
  readonly #parts: ChangingParts
  readonly #find: SqliteStatement
  readonly #cancel: SqliteStatement
  readonly #ask: SqliteStatement
  readonly #reschedule: SqliteStatement
  readonly #requeue: SqliteStatement
  readonly #report: SqliteStatement
  readonly #pause: SqliteStatement
  readonly #resume: SqliteStatement
  readonly #paused: SqliteStatement

  constructor(connection: Connection, parts: ChangingParts) {
    this.#parts = parts
    this.#find = connection.prepare(
      'SELECT seq, id, lane, state, unique_key, unique_until, started_at FROM treadle_jobs WHERE seq = ?',
    )
    this.#cancel = connection.prepare('UPDATE treadle_jobs SET state = 6, finished_at = ? WHERE seq = ?')
    this.#ask = connection.prepare('UPDATE treadle_jobs SET cancel = 1 WHERE seq = ?')
    this.#reschedule = connection.prepare('UPDATE treadle_jobs SET state = ?, run_at = ? WHERE seq = ?')
    this.#requeue = connection.prepare(
      `UPDATE OR IGNORE treadle_jobs SET state = 0, run_at = ?, attempts = 0, rescues = 0, started_at = NULL, finished_at = NULL,
         result = NULL, progress = NULL, reason = NULL WHERE seq = ?`,
    )
    this.#report = connection.prepare('UPDATE treadle_jobs SET progress = ? WHERE seq = ? AND token = ? AND state = 3')
    this.#pause = connection.prepare('INSERT OR IGNORE INTO treadle_paused (queue) VALUES (?)')
    this.#resume = connection.prepare('DELETE FROM treadle_paused WHERE queue = ?')
    this.#paused = connection.prepare('SELECT queue FROM treadle_paused ORDER BY queue')
  }

  cancel(id: string, now: number): Answer<'cancel'> {
    const { lanes, outcomes, uniqueKeys } = this.#parts
    const found = this.#locate(id)
    if (found === undefined) return 'missing'
    if (found.state > stateNumber.running) return 'ended'
    if (found.state === stateNumber.running) {
      this.#ask.run(found.seq)
      return 'requested'
    }
    this.#cancel.run(now, found.seq)
    lanes.move(found.lane, found.state, stateNumber.cancelled)
    outcomes.write(found.lane, [found.seq], stateNumber.cancelled, now)
    uniqueKeys.freeUnclaimed(found)
    return 'cancelled'
  }

  reschedule(id: string, runAt: number, now: number): Answer<'reschedule'> {
    const found = this.#locate(id)
    if (found === undefined) return 'missing'
    if (found.state > stateNumber.running) return 'ended'
    if (found.state === stateNumber.running) return 'claimed'
    const state = runAt > now ? stateNumber.scheduled : stateNumber.ready
    this.#reschedule.run(state, runAt, found.seq)
    this.#parts.lanes.move(found.lane, found.state, state)
    return 'moved'
  }

  retry(ids: readonly string[], now: number): readonly RetryAnswer[] {
    const { lanes, outcomes, uniqueKeys } = this.#parts
    return ids.map((id) => {
      const found = this.#locate(id)
      if (found === undefined) return 'missing'
      if (found.state <= stateNumber.running) return 'active'
      if (!uniqueKeys.retake(found, now) || Number(this.#requeue.run(now, found.seq).changes) === 0) return 'conflict'
      lanes.move(found.lane, found.state, stateNumber.ready)
      outcomes.erase(found.lane, found.seq)
      return 'requeued'
    })
  }

  #locate(id: string): Found | undefined {
    const seq = this.#parts.addresses.find(id)
    return seq === undefined ? undefined : (this.#find.get(seq) as Found)
  }

  report(reports: readonly ProgressReport[]): void {
    for (const { token, progress } of reports) {
      const parsed = readToken(token)
      if (parsed !== undefined) this.#report.run(progress, parsed.seq, parsed.claim)
    }
  }

  pause(queue: string): void {
    this.#pause.run(queue)
  }

  resume(queue: string): void {
    this.#resume.run(queue)
  }

  pausedQueues(): readonly string[] {
    return (this.#paused.all() as { queue: string }[]).map(({ queue }) => queue)
  }
}
