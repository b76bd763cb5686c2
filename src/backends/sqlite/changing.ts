import type { JobStore, ProgressReport, TreeCancellation } from '../store.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Endings } from './endings.ts'
import type { Lanes } from './lanes.ts'
import type { Mending } from './mending.ts'
import type { Outcomes } from './outcomes.ts'
import { stateNumber } from './schema.ts'
import { readToken } from './token.ts'
import type { Trees } from './trees.ts'
import type { KeyedRow, UniqueKeys } from './unique-keys.ts'

type Answer<Method extends 'cancel' | 'reschedule'> = Awaited<ReturnType<JobStore[Method]>>
type RetryAnswer = Awaited<ReturnType<JobStore['retry']>>[number]

interface Found extends KeyedRow {
  readonly seq: number
  readonly lane: number
  readonly state: number
  readonly linked: number
}

export interface ChangingParts {
  readonly lanes: Lanes
  readonly addresses: Addresses
  readonly outcomes: Outcomes
  readonly endings: Endings
  readonly mending: Mending
  readonly uniqueKeys: UniqueKeys
  readonly trees: Trees
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
      'SELECT seq, id, lane, state, linked, unique_key, unique_until, started_at FROM treadle_jobs WHERE seq = ?',
    )
    this.#cancel = connection.prepare(
      'UPDATE treadle_jobs SET state = 6, finished_at = ?, result = NULL, seal = NULL WHERE seq = ?',
    )
    this.#ask = connection.prepare('UPDATE treadle_jobs SET cancel = 1 WHERE seq = ?')
    this.#reschedule = connection.prepare('UPDATE treadle_jobs SET state = ?, run_at = ? WHERE seq = ?')
    this.#requeue = connection.prepare(
      `UPDATE OR IGNORE treadle_jobs SET state = 0, run_at = ?, attempts = 0, rescues = 0, begun = 0, started_at = NULL, finished_at = NULL,
         result = NULL, seal = NULL, progress = NULL, reason = NULL WHERE seq = ?`,
    )
    this.#report = connection.prepare('UPDATE treadle_jobs SET progress = ? WHERE seq = ? AND token = ? AND state = 3')
    this.#pause = connection.prepare('INSERT OR IGNORE INTO treadle_paused (queue) VALUES (?)')
    this.#resume = connection.prepare('DELETE FROM treadle_paused WHERE queue = ?')
    this.#paused = connection.prepare('SELECT queue FROM treadle_paused ORDER BY queue')
  }

  cancel(id: string, now: number): Answer<'cancel'> {
    const found = this.#locate(id)
    if (found === undefined) return 'missing'
    if (found.state > stateNumber.running) return 'ended'
    if (found.state === stateNumber.running) {
      this.#ask.run(found.seq)
      return 'requested'
    }
    this.#end(found, now)
    this.#parts.endings.ended(found.lane, found.seq, stateNumber.cancelled, now)
    return 'cancelled'
  }

  /** All of them are ended before anybody is told, so that none ends because of another one. */
  cancelTree(id: string, now: number): TreeCancellation {
    const { trees, endings } = this.#parts
    const found = trees.family(id).flatMap((seq) => (this.#find.get(seq) as Found | undefined) ?? [])
    const running = found.filter(({ state }) => state === stateNumber.running)
    const waiting = found.filter(({ state }) => state < stateNumber.running)
    for (const { seq } of running) this.#ask.run(seq)
    for (const job of waiting) this.#end(job, now)
    for (const { lane, seq } of waiting) endings.ended(lane, seq, stateNumber.cancelled, now)
    const ended = found.length - running.length - waiting.length
    return { cancelled: waiting.length, requested: running.length, ended }
  }

  reschedule(id: string, runAt: number, now: number): Answer<'reschedule'> {
    const found = this.#locate(id)
    if (found === undefined) return 'missing'
    if (found.state > stateNumber.running) return 'ended'
    if (found.state === stateNumber.running) return 'claimed'
    const state = found.state === stateNumber.blocked ? found.state : timed(runAt, now)
    this.#reschedule.run(state, runAt, found.seq)
    this.#parts.lanes.move(found.lane, found.state, state)
    return 'moved'
  }

  /** All are put back before it is looked at what they wait for: they may wait for each other. */
  retry(ids: readonly string[], now: number): readonly RetryAnswer[] {
    const { lanes, outcomes, mending, uniqueKeys } = this.#parts
    const linked: number[] = []
    const answers = ids.map((id) => {
      const found = this.#locate(id)
      if (found === undefined) return 'missing'
      if (found.state <= stateNumber.running) return 'active'
      if (!uniqueKeys.retake(found, now) || Number(this.#requeue.run(now, found.seq).changes) === 0) return 'conflict'
      lanes.move(found.lane, found.state, stateNumber.ready)
      outcomes.erase(found.lane, found.seq)
      if (found.linked === 1) linked.push(found.seq)
      return 'requeued'
    })
    for (const seq of linked) mending.relink(seq, now)
    return answers
  }

  #end({ seq, lane, state }: Found, now: number): void {
    this.#cancel.run(now, seq)
    this.#parts.lanes.move(lane, state, stateNumber.cancelled)
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

function timed(runAt: number, now: number): number {
  return runAt > now ? stateNumber.scheduled : stateNumber.ready
}
