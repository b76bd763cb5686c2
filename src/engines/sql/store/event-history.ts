import { type Steps, wait } from '../../../core/answer.ts'
import {
  appendsBetweenTrims,
  type EventChunk,
  type EventListenerRow,
  type EventPosition,
  keptEventChunks,
  placeEvents,
  type StoredEventChunk,
} from '../../../queue/contract/stores/event-store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'

interface PositionRow {
  readonly epoch: number
  readonly last_number: number
}

interface EventRow {
  readonly first_number: number
  readonly last_number: number
  readonly body: string
}

/**
 * Recent events, one row per chunk. A writer locks the position row until its transaction ends, so chunks appear in the order of
 * their numbers, and a reader that continues after the last one misses none.
 */
export class EventHistory {
  readonly #database: SqlDatabase
  #appends = 0

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  *listen({ id, wants }: EventListenerRow, ttlMs: number, time: QueueTime): Steps<EventPosition> {
    return yield* wait(
      this.#database.transaction(function* (session) {
        const position = yield* heldPosition(session)
        const now = time.now()
        yield* wait(session.run('DELETE FROM {event_listeners} WHERE expires_at <= ?', [now]))
        const [first] = yield* wait(session.all('SELECT id FROM {event_listeners} LIMIT 1'))
        const row = { id, expires_at: now + ttlMs, wants }
        yield* wait(session.upsert('event_listeners', ['id', 'expires_at', 'wants'], [row], ['id'], ['expires_at', 'wants']))
        if (first !== undefined) return position
        yield* wait(session.run('UPDATE {event_position} SET epoch = epoch + 1 WHERE one = 1'))
        yield* wait(session.run('DELETE FROM {events}'))
        return { ...position, epoch: position.epoch + 1 }
      }),
    )
  }

  *leave(id: string, time: QueueTime): Steps<void> {
    yield* wait(
      this.#database.transaction(function* (session) {
        yield* heldPosition(session)
        yield* wait(session.run('DELETE FROM {event_listeners} WHERE id = ? OR expires_at <= ?', [id, time.now()]))
        const [other] = yield* wait(session.all('SELECT id FROM {event_listeners} LIMIT 1'))
        if (other === undefined) yield* wait(session.run('DELETE FROM {events}'))
      }),
    )
  }

  *wanted(now: number): Steps<readonly string[]> {
    const rows = yield* wait(
      this.#database.all<{ wants: string }>('SELECT wants FROM {event_listeners} WHERE expires_at > ?', [now]),
    )
    return rows.map(({ wants }) => wants)
  }

  *append(chunks: readonly EventChunk[]): Steps<void> {
    const isTrimmed = this.#appends++ % appendsBetweenTrims === 0
    yield* wait(
      this.#database.transaction(function* (session) {
        let { last } = yield* heldPosition(session)
        const rows: EventRow[] = []
        for (const chunk of chunks) {
          const placed = placeEvents(chunk, last)
          last = placed.last
          rows.push({ first_number: placed.first, last_number: last, body: placed.text })
        }
        yield* wait(session.run('UPDATE {event_position} SET last_number = ? WHERE one = 1', [last]))
        yield* wait(
          session.insert(
            'events',
            ['first_number', 'last_number', 'body'],
            rows.map((row) => ({ ...row })),
          ),
        )
        if (isTrimmed) yield* trim(session)
      }),
    )
  }

  *read(after: number, limit: number): Steps<readonly StoredEventChunk[]> {
    const rows = yield* wait(
      this.#database.all<EventRow>(
        'SELECT first_number, last_number, body FROM {events} WHERE last_number > ? ORDER BY last_number LIMIT ?',
        [after, limit],
      ),
    )
    return rows.map(({ first_number, last_number, body }) => ({ first: first_number, last: last_number, text: body }))
  }
}

/** Until the transaction ends, no other transaction writes events or begins to listen. */
function* heldPosition(session: SqlSession): Steps<EventPosition> {
  const question = 'SELECT epoch, last_number FROM {event_position} WHERE one = 1 FOR UPDATE'
  const [row] = yield* wait(session.all<PositionRow>(question))
  if (row !== undefined) return { epoch: row.epoch, last: row.last_number }
  // The first time. If another transaction does the same, this waits for its row.
  yield* wait(session.insertNew('event_position', ['one', 'epoch', 'last_number'], [{ one: 1, epoch: 0, last_number: 0 }], 'one'))
  const [made] = yield* wait(session.all<PositionRow>(question))
  return { epoch: made?.epoch ?? 0, last: made?.last_number ?? 0 }
}

function* trim(session: SqlSession): Steps<void> {
  const [oldest] = yield* wait(
    session.all<{ last_number: number }>('SELECT last_number FROM {events} ORDER BY last_number DESC LIMIT 1 OFFSET ?', [
      keptEventChunks,
    ]),
  )
  if (oldest !== undefined) yield* wait(session.run('DELETE FROM {events} WHERE last_number <= ?', [oldest.last_number]))
}
