import { TreadleError } from '../../../core/errors.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { SqlQueue } from '../../sql/queue.ts'
import type { Connection } from '../file/connection.ts'
import type { FileDatabase } from '../file/file-database.ts'
import type { Stamps } from './stamps.ts'

/** What the fast paths are made of: see `FastPaths`. */
export interface FastParts {
  readonly connection: Connection
  readonly database: FileDatabase
  readonly stamps: Stamps
  readonly time: QueueTime
  readonly rules: SqlQueue
}

/** Something is otherwise than a fast path takes it to be: its transaction is undone, and the rules decide. */
export class Refused extends TreadleError {
  constructor() {
    super('STOPPED', 'The rules of the queue are to decide')
  }
}
