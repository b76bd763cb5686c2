import { TreadleError } from '../../../core/errors.ts'
import { identityStart } from '../../../envelope/envelope.ts'
import type { Lease, LeaseBatch, LeaseRequest } from '../../../queue/contract/contract.ts'
import { readUntil } from '../../sql/keys/unique-keys.ts'
import type { Lane } from '../../sql/lanes/lanes.ts'
import { unscopedKey } from '../../sql/rows/job-row.ts'
import { writeToken } from '../../sql/rows/lease-token.ts'
import type { ClaimedRow } from '../../sql/shortcuts.ts'

/** The jobs that it is about stand in one text. */
export interface FlatRequest extends Omit<LeaseRequest, 'jobs'> {
  readonly jobs: string
}

/** What a claim came to, as it crosses from the database's thread: the rows as one JSON text, and the lanes that they stand in. */
export interface ClaimedRows {
  readonly claim: string
  readonly rows: string
  readonly lanes: readonly Lane[]
  /** Of all leases that it gives. */
  readonly expiresAt: number
  readonly nextAt: number | null
  readonly cancelled: readonly string[]
}

/** What a row says, in this order: `FlatRow`. The identity is empty where there is a stamp. */
export const flatColumns = [
  'id',
  'lane',
  'grp',
  'identity',
  'stamp',
  'payload',
  'signature',
  'unique_key',
  'unique_until',
  'created_at',
  'run_at',
  'attempts',
  'rescues',
  'number',
  'linked',
] as const

type FlatRow = readonly [
  id: string,
  lane: number,
  grp: string,
  identity: string,
  stamp: number | null,
  payload: string,
  signature: string | null,
  uniqueKey: string | null,
  uniqueUntil: number | null,
  createdAt: number,
  runAt: number,
  attempts: number,
  rescues: number,
  number: number | null,
  linked: number,
]

/** Of rows that the rules have claimed: their identities stand there in full. */
export function flattenRows(rows: readonly ClaimedRow[]): string {
  return JSON.stringify(rows.map((row) => flatColumns.map((column) => (column === 'stamp' ? null : row[column]))))
}

/** Makes leases of the rows that a claim took. What their identities end with is asked for once. */
export class ClaimReader {
  readonly #texts = new Map<number, string>()
  readonly #textsOf: (stamps: readonly number[]) => Promise<readonly string[]>

  constructor(textsOf: (stamps: readonly number[]) => Promise<readonly string[]>) {
    this.#textsOf = textsOf
  }

  async read(claimed: ClaimedRows): Promise<LeaseBatch> {
    const rows = JSON.parse(claimed.rows) as FlatRow[]
    const unknown = this.#unknownStamps(rows)
    if (unknown.length > 0) await this.#learn(unknown)
    const lanes = new Map(claimed.lanes.map((lane) => [lane.lane, lane]))
    const leases = rows.map((row) => this.#lease(row, lanes.get(row[1]), claimed.claim, claimed.expiresAt))
    return { leases, nextAt: claimed.nextAt, cancelled: claimed.cancelled }
  }

  #unknownStamps(rows: readonly FlatRow[]): readonly number[] {
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

  #lease(row: FlatRow, lane: Lane | undefined, claim: string, expiresAt: number): Lease {
    const [id, laneNumber, grp, identity, stamp, payload, signature, uniqueKey, until, createdAt, runAt, attempt, rescues] = row
    const { 13: number, 14: linked } = row
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
      group: lane.grouped === 1 ? grp : null,
      links: null,
    }
    return { token: writeToken(id, laneNumber, claim), envelope, attempt, rescues, expiresAt, linked: linked === 1 }
  }
}
