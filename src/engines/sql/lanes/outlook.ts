import { type Steps, wait } from '../../../core/answer.ts'
import { jobMark } from '../../../queue/rules/claiming/pausing.ts'
import { earliest } from '../../../queue/time/earliest.ts'
import type { Dialect, StateIndex } from '../dialect.ts'
import { writeToken } from '../rows/lease-token.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlSession } from '../session.ts'
import { isLaneNumber } from './lane-numbers.ts'

/** What a claim must know before it begins, and what its owner must know besides the jobs it gets. */
export interface Outlook {
  /** Only of queues that are not paused. */
  readonly readyLanes: readonly number[]
  /** Whether crowded lanes have ready jobs. */
  readonly hasCrowd: boolean
  readonly cancelled: readonly string[]
  /** When the first scheduled job is due, the first lease expires, a group gets tokens again, and a job has waited too long. */
  readonly dueAt: number | null
  readonly expiresAt: number | null
  readonly heldUntil: number | null
  readonly givesUpAt: number | null
}

export interface OutlookRow {
  readonly kind: string
  readonly number: number | null
  readonly text: string | null
  readonly claim: string | null
}

/** Selects everything an outlook contains, as rows of different kinds. Its only parameter is the owner. */
export function outlookStatement({ inState, cancelling, readyLanes, crowd, idAsText }: Dialect): string {
  const [scheduled, running] = [inState(stateNumber.scheduled), inState(stateNumber.running)]
  return `SELECT 'due' AS kind, ${firstOf(scheduled)} AS number, NULL AS text, NULL AS claim
     UNION ALL SELECT 'expires', ${firstOf(running)}, NULL, NULL
     UNION ALL SELECT 'held', ${firstOf({ from: '{groups}', is: 'held_until > 0', at: 'held_until' })}, NULL, NULL
     UNION ALL SELECT 'gives-up', ${firstOf({ from: '{links}', is: 'gives_up_at IS NOT NULL', at: 'gives_up_at' })}, NULL, NULL
     UNION ALL SELECT 'crowd', ${firstOf(crowd)}, NULL, NULL
     UNION ALL SELECT 'cancelled', lane, ${idAsText}, token FROM ${cancelling.from} WHERE ${cancelling.is} AND owner = ?
     UNION ALL SELECT 'ready', ready_lanes.lane, NULL, NULL FROM (${readyLanes}) AS ready_lanes WHERE ${isUnpaused('ready_lanes.lane')}`
}

/**
 * One index lookup. For a minimum, a planner that believes a table is small would read all of it, and keep that plan when it has
 * grown.
 */
function firstOf({ from, is, at }: StateIndex): string {
  return `(SELECT ${at} FROM ${from} WHERE ${is} ORDER BY ${at} LIMIT 1)`
}

/**
 * Whether neither the queue nor the job of a lane is paused; usually nothing is. Scalar subqueries, so that no planner reads all
 * lanes or all pauses. `lane` must not be a column of `{lanes}` by that name, which means another row inside the subquery.
 */
export function isUnpaused(lane: string): string {
  const isFree = (text: string) =>
    `(SELECT 1 FROM {paused} WHERE {paused}.queue = (SELECT ${text} FROM {lanes} WHERE {lanes}.lane = ${lane})) IS NULL`
  // Planners assume that a CASE is often true; otherwise they would read everything instead of the first few rows in order.
  return `CASE WHEN (SELECT 1 FROM {paused} LIMIT 1) IS NULL THEN TRUE
    ELSE ${isFree('queue')} AND ${isFree(`CONCAT('${jobMark}', job)`)} END`
}

/** One statement, so that an idle worker asks only once. */
export function* readOutlook(session: SqlSession, owner: string): Steps<Outlook> {
  return outlookOf(yield* wait(session.all<OutlookRow>(outlookStatement(session.dialect), [owner])))
}

function outlookOf(rows: readonly OutlookRow[]): Outlook {
  const of = (kind: string) => rows.filter((row) => row.kind === kind)
  // SQLite lets anyone who can write to the file store a text in a column of numbers. Such a value never comes due.
  const first = (kind: string) => of(kind).find(({ number }) => typeof number === 'number')?.number ?? null
  return {
    readyLanes: of('ready').flatMap(({ number }) => (isLaneNumber(number) ? [number] : [])),
    hasCrowd: first('crowd') !== null,
    cancelled: of('cancelled').map(({ text, number, claim }) => writeToken(text as string, number as number, claim as string)),
    dueAt: first('due'),
    expiresAt: first('expires'),
    heldUntil: first('held'),
    givesUpAt: first('gives-up'),
  }
}

/** Whether something must be done before a claim. */
export function isOverdue({ dueAt, expiresAt, heldUntil, givesUpAt }: Outlook, now: number): boolean {
  return [dueAt, expiresAt, heldUntil, givesUpAt].some((at) => at !== null && at <= now)
}

/** When something must be done that no other program announces. */
export function nextAtOf({ dueAt, expiresAt, heldUntil, givesUpAt }: Outlook): number | null {
  return earliest([dueAt, expiresAt, heldUntil, givesUpAt])
}
