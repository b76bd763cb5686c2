import { type FinalState, jobStates } from '../job-state.ts'
import { readEnding } from '../spoilt.ts'
import { type End, failureText, impatienceText, isSuccess, lateEnd, nothingToRescue, verdictOf } from '../waiting.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import { type Edge, type Edges, linkOf } from './edges.ts'
import type { Lanes } from './lanes.ts'
import type { OnceMarks } from './once-marks.ts'
import type { Outcomes } from './outcomes.ts'
import { stateNumber } from './schema.ts'
import type { Trees } from './trees.ts'
import type { KeyedRow, UniqueKeys } from './unique-keys.ts'
import type { Waiter, Waiters } from './waiters.ts'

export interface EndingsParts {
  readonly lanes: Lanes
  readonly outcomes: Outcomes
  readonly uniqueKeys: UniqueKeys
  readonly edges: Edges
  readonly waiters: Waiters
  readonly trees: Trees
  readonly onceMarks: OnceMarks
}

interface EndedRow extends KeyedRow {
  readonly linked: number
  readonly state: number
  readonly result: string | null
  readonly seal: string | null
  readonly error: string | null
}

interface EndedJob extends End {
  readonly seq: number
}

const gone: End = { state: 'missing', result: null, seal: null, error: null }

/**
 * The end of a job, as far as others are concerned: occurrences of schedules remember it, and whoever waits for it goes on or
 * ends as well. Every statement that ends or deletes a job is followed by a word to this class, in the same transaction.
 */
export class Endings {
  readonly #parts: EndingsParts
  readonly #ended: SqliteStatement
  readonly #delete: SqliteStatement
  readonly #untold: EndedJob[] = []
  #isTelling = false
  #released = false

  constructor(connection: Connection, parts: EndingsParts) {
    this.#parts = parts
    this.#ended = connection.prepare(
      `SELECT id, linked, state, result, seal, coalesce(CASE WHEN json_valid(errors) THEN errors ->> '$[#-1].message' END, reason) AS error, unique_key, unique_until, started_at
       FROM treadle_jobs WHERE seq = ?`,
    )
    this.#delete = connection.prepare('DELETE FROM treadle_jobs WHERE seq = ?')
  }

  /** For jobs that are known not to be linked: nobody waits for them. */
  endedAlone(lane: number, seqs: readonly number[], state: number, now: number): void {
    this.#parts.outcomes.write(lane, seqs, state, now)
  }

  /** After a job has ended, and while its row is there. */
  ended(lane: number, seq: number, state: number, now: number): void {
    const { outcomes, uniqueKeys, waiters } = this.#parts
    outcomes.write(lane, [seq], state, now)
    const job = this.#ended.get(seq) as EndedRow
    uniqueKeys.freeUnclaimed(job)
    if (job.linked === 0) return
    waiters.rest(seq)
    this.#untold.push({ seq, ...endOf(job) })
    this.#tellAll(now)
  }

  /** Deletes a job that has ended, and of which everybody was told. */
  remove(lane: number, seq: number, state: number): void {
    this.#parts.trees.forget(seq, state)
    this.#delete.run(seq)
    this.#parts.lanes.add(lane, state, -1)
  }

  /** Deletes a job that has not ended, as if it had never been there. */
  withdrawn(seq: number, now: number): void {
    this.#untold.push({ seq, ...gone })
    this.#parts.trees.forget(seq, null)
    this.#tellAll(now)
  }

  /** Tells one that waits of an end that it has missed. `late` is what vouches for one that was not sealed. */
  resolve(edge: Edge, now: number, late: string | null = null): void {
    const job = edge.target === null ? undefined : (this.#ended.get(edge.target) as EndedRow | undefined)
    const end = job === undefined || job.id !== edge.target_id ? gone : lateEnd(endOf(job), late)
    // What it heard of another one may have let it go on without the rest.
    const isAwaited = edge.waiting === 1 && this.#parts.edges.get(edge.edge).waiting === 1
    this.#parts.edges.end(edge.edge, end)
    if (isAwaited) this.#tell(edge, end, now)
    this.#tellAll(now)
  }

  /** Ends those that have waited for too long. */
  giveUp(now: number, limit: number): void {
    const { waiters, edges } = this.#parts
    for (const waiter of waiters.overdue(now, limit)) {
      // The end of one of them may have been that of another.
      if (waiters.find(waiter.seq)?.state !== stateNumber.blocked) continue
      const awaited = edges.of(waiter.seq).filter(({ waiting }) => waiting === 1)
      this.fail(waiter, impatienceText(awaited.map(linkOf), awaited.length, waiter.longest_wait_ms), now)
    }
  }

  /** Ends a job because of an edge. */
  failFor(waiter: Waiter, edge: number, now: number): void {
    const link = linkOf(this.#parts.edges.get(edge))
    const why = failureText({ ...link, state: link.state as End['state'] })
    if (link.onFailure === 'skip') this.#skip(waiter, why, now)
    else this.fail(waiter, why, now)
  }

  fail(waiter: Waiter, message: string, now: number): void {
    this.#parts.waiters.fail(waiter, message, now)
    this.ended(waiter.lane, waiter.seq, stateNumber.dead, now)
  }

  /** A blocked job has nothing left to wait for. */
  allEnded(waiter: Waiter, now: number): void {
    if (this.#parts.edges.hasNothingToRescue(waiter.seq)) this.#skip(waiter, nothingToRescue, now)
    else this.#release(waiter, now)
  }

  /** Whether a job has become ready since the last question. */
  takeReleased(): boolean {
    const released = this.#released
    this.#released = false
    return released
  }

  noteReleased(): void {
    this.#released = true
  }

  /** After a rollback. */
  forget(): void {
    this.#untold.length = 0
    this.#isTelling = false
    this.#released = false
  }

  /** In turn and not one inside the other: a chain of jobs that fail one after the other may be long. */
  #tellAll(now: number): void {
    if (this.#isTelling) return
    this.#isTelling = true
    for (let next = 0; next < this.#untold.length; next++) {
      const ended = this.#untold[next] as EndedJob
      const edges = this.#parts.edges.on(ended.seq)
      if (edges.length > 0) this.#parts.edges.endOn(ended.seq, ended)
      for (const edge of edges) if (edge.waiting === 1) this.#tell(edge, ended, now)
    }
    this.#untold.length = 0
    this.#isTelling = false
  }

  #tell(edge: Edge, end: End, now: number): void {
    const { waiters, edges } = this.#parts
    const waiter = waiters.find(edge.waiter)
    if (waiter === undefined) return
    const isBlocked = waiter.state === stateNumber.blocked
    const pending = waiter.pending - 1
    waiters.expect(waiter, pending)
    switch (verdictOf(edge.policy, end)) {
      case 'counts':
        if (isBlocked && pending === 0) this.allEnded(waiter, now)
        return
      case 'releases':
        edges.detach(waiter.seq)
        waiters.expect(waiter, 0)
        if (isBlocked) this.#release(waiter, now)
        return
      case 'fails':
      case 'skips':
        if (isBlocked) this.failFor(waiter, edge.edge, now)
        else if (waiter.doom === null) waiters.doom(waiter, edge.edge)
    }
  }

  #release(waiter: Waiter, now: number): void {
    const { waiters, onceMarks } = this.#parts
    if (waiter.ending === null) {
      waiters.unblock(waiter, now)
      this.#released = true
      return
    }
    const { keep, once } = readEnding(waiter.ending)
    waiters.succeed(waiter, now)
    if (once !== null) onceMarks.keep(once, (this.#ended.get(waiter.seq) as EndedRow).result, now)
    this.ended(waiter.lane, waiter.seq, stateNumber.succeeded, now)
    if (!keep) this.remove(waiter.lane, waiter.seq, stateNumber.succeeded)
  }

  #skip(waiter: Waiter, why: string, now: number): void {
    this.#parts.waiters.skip(waiter, why, now)
    this.ended(waiter.lane, waiter.seq, stateNumber.skipped, now)
  }
}

function endOf({ state, result, seal, error }: EndedRow): End {
  const end = { state: jobStates[state] as FinalState, result, seal }
  return { ...end, error: isSuccess(end) ? null : error }
}
