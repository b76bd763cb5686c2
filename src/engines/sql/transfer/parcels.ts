import { type Steps, wait } from '../../../core/answer.ts'
import { randomToken } from '../../../core/id.ts'
import { type Contents, type Parcel, type ParcelLabel, type Refusal, receiptsKeptMs } from '../../../queue/contract/transfer.ts'
import type { SqlSession } from '../session.ts'

const columns = ['name', 'part', 'target', 'at', 'body'] as const

const identityName = 'identity'
const outbox = 'out:'
const inbox = 'in:'

/** Maximum number of characters per row: a statement must not be longer than a server accepts. */
const rowLength = 500_000

/** Creates the identity if the queue was never part of a transfer. */
export function* identityOf(session: SqlSession, now: number): Steps<string> {
  const made = { name: identityName, part: 0, target: null, at: now, body: randomToken() }
  const question = 'SELECT body FROM {transfers} WHERE name = ? AND part = 0'
  const [known] = yield* wait(session.all<{ body: string }>(question, [identityName]))
  if (known !== undefined) return known.body
  yield* wait(session.insertNew('transfers', columns, [made], 'name'))
  const [stored] = yield* wait(session.all<{ body: string }>(question, [identityName]))
  return (stored ?? made).body
}

export function* storeParcel(session: SqlSession, parcel: Parcel, now: number): Steps<void> {
  const { id, target, ...contents } = parcel
  const rows = inRows(JSON.stringify(contents)).map((body, part) => ({ name: outbox + id, part, target, at: now, body }))
  yield* wait(session.insert('transfers', columns, rows))
}

export function* parcelLabels(session: SqlSession): Steps<readonly ParcelLabel[]> {
  const stored = `SELECT name, target FROM {transfers} WHERE part = 0 AND name LIKE '${outbox}%' ORDER BY name`
  const rows = yield* wait(session.all<{ name: string; target: string }>(stored))
  return rows.map(({ name, target }) => ({ id: name.slice(outbox.length), target }))
}

/** The parcel's rows are locked until the transaction ends. */
export function* storedParcel(session: SqlSession, id: string): Steps<Parcel | null> {
  const rows = yield* wait(
    session.all<{ target: string; body: string }>(
      'SELECT target, body FROM {transfers} WHERE name = ? ORDER BY part FOR UPDATE',
      [outbox + id],
    ),
  )
  const [first] = rows
  if (first === undefined) return null
  const contents = JSON.parse(rows.map(({ body }) => body).join('')) as Contents & Pick<Parcel, 'origin'>
  return { id, target: first.target, ...contents }
}

export function* forgetParcel(session: SqlSession, id: string): Steps<void> {
  yield* wait(session.run('DELETE FROM {transfers} WHERE name = ?', [outbox + id]))
}

/**
 * Null if the parcel is new here: then its receipt must be written in the same transaction. Other transactions that unpack the
 * same parcel wait.
 */
export function* receiptOf(session: SqlSession, id: string, now: number): Steps<readonly Refusal[] | null> {
  const name = inbox + id
  const empty = { name, part: 0, target: null, at: now, body: '[]' }
  const written = yield* wait(session.insertNew('transfers', columns, [empty], 'name'))
  if (written.has(name)) return null
  const [known] = yield* wait(session.all<{ body: string }>('SELECT body FROM {transfers} WHERE name = ?', [name]))
  return JSON.parse(known?.body ?? '[]') as readonly Refusal[]
}

export function* writeReceipt(session: SqlSession, id: string, refusals: readonly Refusal[]): Steps<void> {
  if (refusals.length === 0) return
  yield* wait(session.run('UPDATE {transfers} SET body = ? WHERE name = ?', [JSON.stringify(refusals), inbox + id]))
}

export function* sweepReceipts(session: SqlSession, now: number): Steps<void> {
  yield* wait(session.run(`DELETE FROM {transfers} WHERE name LIKE '${inbox}%' AND at < ?`, [now - receiptsKeptMs]))
}

/** Marks something about this queue once. False if it was already marked. */
export function* mark(session: SqlSession, name: string, target: string, now: number): Steps<boolean> {
  const row = { name, part: 0, target, at: now, body: '' }
  return (yield* wait(session.insertNew('transfers', columns, [row], 'name'))).has(name)
}

/** Splits no surrogate pair: half of one cannot be stored. */
function inRows(text: string): readonly string[] {
  const rows: string[] = []
  for (let from = 0; from < text.length; ) {
    const end = Math.min(from + rowLength, text.length)
    const isWhole = end === text.length || (text.charCodeAt(end - 1) & 0xfc00) !== 0xd800
    rows.push(text.slice(from, isWhole ? end : end - 1))
    from = isWhole ? end : end - 1
  }
  return rows
}
