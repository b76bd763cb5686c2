import type { Answer } from '../../core/answer.ts'
import type { Dialect } from './dialect.ts'
import type { SqlSession, SqlValue } from './session.ts'

/** A session whose statements are run by others: what extends it decides by whom, and in which transaction. */
export abstract class ForwardingSession implements SqlSession {
  abstract readonly dialect: Dialect
  readonly insert: SqlSession['insert'] = (...given) => this.runSeveral((session) => session.insert(...given))
  readonly insertNew: SqlSession['insertNew'] = (...given) => this.runSeveral((session) => session.insertNew(...given))
  readonly upsert: SqlSession['upsert'] = (...given) => this.runSeveral((session) => session.upsert(...given))
  readonly update: SqlSession['update'] = (...given) => this.runSeveral((session) => session.update(...given))

  all<Row>(sql: string, values?: readonly SqlValue[]): Answer<Row[]> {
    return this.runOne((session) => session.all<Row>(sql, values))
  }

  run(sql: string, values?: readonly SqlValue[]): Answer<number> {
    return this.runOne((session) => session.run(sql, values))
  }

  /** Runs a single statement. */
  protected abstract runOne<Value>(work: (session: SqlSession) => Answer<Value>): Answer<Value>
  /** Runs what may take several statements. */
  protected abstract runSeveral<Value>(work: (session: SqlSession) => Answer<Value>): Answer<Value>
}
