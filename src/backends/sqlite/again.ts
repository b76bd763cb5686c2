import type { Envelope } from '../../envelope/envelope.ts'
import type { SettleReceipt } from '../contract.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Endings } from './endings.ts'
import { free } from './job-changes.ts'
import type { Lanes } from './lanes.ts'
import { stateNumber } from './schema.ts'
import { laneOf } from './sending.ts'
import type { Token } from './token.ts'

interface HeldRow {
  readonly lane: number
  readonly schedule: string | null
  readonly cancel: number
}

/** Ends leases of jobs that are to be done again as other envelopes say. */
export class Again {
  readonly #lanes: Lanes
  readonly #endings: Endings
  readonly #find: SqliteStatement
  readonly #cancel: SqliteStatement
  readonly #bringBack: SqliteStatement

  constructor(connection: Connection, lanes: Lanes, endings: Endings) {
    this.#lanes = lanes
    this.#endings = endings
    this.#find = connection.prepare('SELECT lane, schedule, cancel FROM treadle_jobs WHERE seq = ? AND token = ? AND state = 3')
    this.#cancel = connection.prepare(`UPDATE treadle_jobs SET state = 6, finished_at = ?, ${free} WHERE seq = ?`)
    this.#bringBack = connection.prepare(
      `UPDATE treadle_jobs SET lane = ?, state = ?, run_at = ?, identity = ?, stamp = NULL, payload = ?, signature = ?,
         attempts = 0, rescues = 0, begun = 0, result = NULL, seal = NULL, progress = NULL,
         ${free} WHERE seq = ?`,
    )
  }

  settle({ seq, claim }: Token, envelope: Envelope, now: number): SettleReceipt {
    const held = this.#find.get(seq, claim) as HeldRow | undefined
    if (held === undefined) return 'lost'
    if (held.cancel === 1) {
      this.#cancel.run(now, seq)
      this.#lanes.move(held.lane, stateNumber.running, stateNumber.cancelled)
      this.#endings.ended(held.lane, seq, stateNumber.cancelled, now)
      return 'cancelled'
    }
    const { runAt, identity, payload, signature } = envelope
    const lane = laneOf(this.#lanes, envelope, held.schedule !== null)
    const state = runAt > now ? stateNumber.scheduled : stateNumber.ready
    this.#bringBack.run(lane, state, runAt, identity, payload, signature, seq)
    this.#lanes.add(held.lane, stateNumber.running, -1)
    this.#lanes.add(lane, state, 1)
    // It may be for others now.
    if (state === stateNumber.ready) this.#endings.noteReleased()
    return 'applied'
  }
}
