import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Lanes } from './lanes.ts'

/** How occurrences of schedules ended. For jobs of all other lanes nothing is read or written. */
export class Outcomes {
  readonly #lanes: Lanes
  readonly #write: SqliteStatement
  readonly #erase: SqliteStatement

  constructor(connection: Connection, lanes: Lanes) {
    this.#lanes = lanes
    this.#write = connection.prepare(
      `UPDATE treadle_occurrences SET outcome = ?, started_at = jobs.started_at, finished_at = ?
       FROM treadle_jobs AS jobs WHERE jobs.seq IN (SELECT value FROM json_each(?)) AND job_id = jobs.id`,
    )
    this.#erase = connection.prepare(
      `UPDATE treadle_occurrences SET outcome = NULL, started_at = NULL, finished_at = NULL
       WHERE job_id = (SELECT id FROM treadle_jobs WHERE seq = ?)`,
    )
  }

  /** After jobs of a lane have ended, and while their rows are there. */
  write(lane: number, seqs: readonly number[], state: number, now: number): void {
    if (this.#lanes.isRecurring(lane)) this.#write.run(state, now, JSON.stringify(seqs))
  }

  /** After a job was put back. */
  erase(lane: number, seq: number): void {
    if (this.#lanes.isRecurring(lane)) this.#erase.run(seq)
  }
}
