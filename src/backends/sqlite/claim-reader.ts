import { TreadleError } from '../../core/errors.ts'
import { identityStart } from '../../envelope/envelope.ts'
import type { Lease, LeaseBatch } from '../contract.ts'
import type { ClaimedRow } from './claiming.ts'
import type { Claimed } from './engine.ts'
import type { Lane } from './lane.ts'
import { unscopedKey } from './sending.ts'
import { writeToken } from './token.ts'
import { readUntil } from './unique-keys.ts'

/** Makes leases of the rows that a claim took. What their identities end with is asked for once. */
export class ClaimReader {
  readonly #texts = new Map<number, string>()
  readonly #textsOf: (stamps: readonly number[]) => Promise<readonly string[]>

  constructor(textsOf: (stamps: readonly number[]) => Promise<readonly string[]>) {
    this.#textsOf = textsOf
  }

  async read(claimed: Claimed): Promise<LeaseBatch> {
    const rows = JSON.parse(claimed.rows) as ClaimedRow[]
    const unknown = this.#unknownStamps(rows)
    if (unknown.length > 0) await this.#learn(unknown)
    const lanes = new Map(claimed.lanes.map((lane) => [lane.lane, lane]))
    const leases = rows.map((row) => this.#lease(row, lanes.get(row[1]), claimed.claim, claimed.expiresAt))
    return { leases, nextAt: claimed.nextAt, cancelled: claimed.cancelled }
  }

  #unknownStamps(rows: readonly ClaimedRow[]): readonly number[] {
    const unknown = new Set<number>()
    for (const { 4: stamp } of rows) if (stamp !== null && !this.#texts.has(stamp)) unknown.add(stamp)
    return [...unknown]
  }

  async #learn(stamps: readonly number[]): Promise<void> {
    const texts = await this.#textsOf(stamps)
    stamps.forEach((stamp, index) => {
      this.#texts.set(stamp, texts[index] as string)
    })
  }

  #lease(row: ClaimedRow, lane: Lane | undefined, claim: string, expiresAt: number): Lease {
    const [
      seq,
      laneNumber,
      id,
      identity,
      stamp,
      payload,
      signature,
      uniqueKey,
      until,
      createdAt,
      runAt,
      attempt,
      number,
      rescues,
      linked,
    ] = row
    if (lane === undefined) throw new TreadleError('DATABASE_FAILED', `Job ${id} stands in a lane that does not exist`)
    const envelope = {
      id,
      number,
      job: lane.job,
      queue: lane.queue,
      priority: lane.priority,
      singleInstance: lane.single === 1,
      identity: stamp === null ? identity : identityStart(id) + (this.#texts.get(stamp) as string),
      payload,
      signature,
      createdAt,
      runAt,
      uniqueKey: uniqueKey === null ? null : unscopedKey(uniqueKey),
      uniqueUntil: readUntil(until),
      group: lane.grouped === 1 ? lane.grp : null,
      links: null,
    }
    return { token: writeToken(seq, laneNumber, claim), envelope, attempt, rescues, expiresAt, linked: linked === 1 }
  }
}
