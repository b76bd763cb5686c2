import { type Steps, wait } from '../../../core/answer.ts'
import type { SqlSession } from '../session.ts'

/** What only one transaction at a time does: claims under limits, changes to links, and writing rollups. */
export type Mutex = 'claims' | 'links' | 'rollups'

/** The mutex is held until the transaction ends. */
export function* lockMutex(session: SqlSession, mutex: Mutex): Steps<void> {
  if (session.dialect.isAlone !== true) yield* wait(session.all('SELECT name FROM {mutexes} WHERE name = ? FOR UPDATE', [mutex]))
}
