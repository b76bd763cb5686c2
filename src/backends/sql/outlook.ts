import type { Dialect } from './dialect.ts'
import type { SqlSession } from './session.ts'
import { stateNumber } from './tables.ts'
import { writeToken } from './token.ts'

/** What a claim must know before it begins, and what its owner must know beside the jobs that it gets. */
export interface Outlook {
  readonly readyLanes: readonly number[]
  readonly pausedQueues: ReadonlySet<string>
  readonly cancelled: readonly string[]
  /** When the first scheduled job is due, the first lease ends, a group gets tokens again, a job has waited long enough. */
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

/** Asks for what an outlook is made of, as rows of kinds. Its only value is the owner. */
export function outlookStatement({ inState, cancelling, readyLanes, idAsText }: Dialect): string {
  const none = 'NULL AS text, NULL AS claim'
  const [scheduled, running] = [inState(stateNumber.scheduled), inState(stateNumber.running)]
  return `SELECT 'due' AS kind, MIN(${scheduled.at}) AS number, ${none} FROM ${scheduled.from} WHERE ${scheduled.is}
     UNION ALL SELECT 'expires', MIN(${running.at}), NULL, NULL FROM ${running.from} WHERE ${running.is}
     UNION ALL SELECT 'held', MIN(held_until), NULL, NULL FROM {groups} WHERE held_until > 0
     UNION ALL SELECT 'gives-up', MIN(gives_up_at), NULL, NULL FROM {links} WHERE gives_up_at IS NOT NULL
     UNION ALL SELECT 'paused', NULL, queue, NULL FROM {paused}
     UNION ALL SELECT 'cancelled', lane, ${idAsText}, token FROM ${cancelling.from} WHERE ${cancelling.is} AND owner = ?
     UNION ALL SELECT 'ready', ready_lanes.lane, NULL, NULL FROM (${readyLanes}) AS ready_lanes`
}

/** One statement, so that an idle worker asks once. */
export async function readOutlook(session: SqlSession, owner: string): Promise<Outlook> {
  return outlookOf(await session.all<OutlookRow>(outlookStatement(session.dialect), [owner]))
}

export function outlookOf(rows: readonly OutlookRow[]): Outlook {
  const of = (kind: string) => rows.filter((row) => row.kind === kind)
  const first = (kind: string) => of(kind)[0]?.number ?? null
  return {
    readyLanes: of('ready').map(({ number }) => number as number),
    pausedQueues: new Set(of('paused').map(({ text }) => text as string)),
    cancelled: of('cancelled').map(({ text, number, claim }) => writeToken(text as string, number as number, claim as string)),
    dueAt: first('due'),
    expiresAt: first('expires'),
    heldUntil: first('held'),
    givesUpAt: first('gives-up'),
  }
}

/** Whether there is something to be done before a claim. */
export function isOverdue({ dueAt, expiresAt, heldUntil, givesUpAt }: Outlook, now: number): boolean {
  return [dueAt, expiresAt, heldUntil, givesUpAt].some((at) => at !== null && at <= now)
}

/** When something is to be done that no other program tells of. */
export function nextAtOf({ dueAt, expiresAt, heldUntil, givesUpAt }: Outlook): number | null {
  return earliest([dueAt, expiresAt, heldUntil, givesUpAt])
}

export function earliest(instants: readonly (number | null)[]): number | null {
  return instants.reduce((first, at) => (first === null || (at !== null && at < first) ? at : first), null)
}
