import { TreadleError } from '../../../core/errors.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { SqlQueue } from '../../sql/queue.ts'
import type { Connection } from '../file/connection.ts'
import type { FileDatabase } from '../file/file-database.ts'
import type { Stamps } from './stamps.ts'

/** The dependencies of the fast paths: see `FastPaths`. */
export interface FastParts {
  readonly connection: Connection
  readonly database: FileDatabase
  readonly stamps: Stamps
  readonly time: QueueTime
  readonly rules: SqlQueue
}

/** An assumption of a fast path does not hold: its transaction is rolled back, and the rules take over. */
export class Refused extends TreadleError {
  constructor() {
    super('STOPPED', 'The rules of the queue are to decide')
  }
}
