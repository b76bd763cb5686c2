import { TreadleError } from '../../../core/errors.ts'
import { identityStart } from '../../../envelope/envelope.ts'
import type { Lease, LeaseBatch, LeaseRequest } from '../../../queue/contract/contract.ts'
import { readUntil } from '../../sql/keys/unique-keys.ts'
import type { Lane } from '../../sql/lanes/lanes.ts'
import { unscopedKey } from '../../sql/rows/job-row.ts'
import { writeToken } from '../../sql/rows/lease-token.ts'
import type { ClaimedRow } from '../../sql/shortcuts.ts'

/** A lease request with its jobs as one JSON text. */
export interface FlatRequest extends Omit<LeaseRequest, 'jobs'> {
  readonly jobs: string
}

/** The result of a claim as it crosses from the database thread: the rows as one JSON text, and the lanes they are in. */
export interface ClaimedRows {
  readonly claim: string
  readonly rows: string
  readonly lanes: readonly Lane[]
  /** The expiry of all its leases. */
  readonly expiresAt: number
  readonly nextAt: number | null
  readonly cancelled: readonly string[]
}

/** The columns of a row in the order of `FlatRow`. The identity is empty if there is a stamp. */
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

/** For rows that the rules have claimed, which contain their full identities. */
export function flattenRows(rows: readonly ClaimedRow[]): string {
  return JSON.stringify(rows.map((row) => flatColumns.map((column) => (column === 'stamp' ? null : row[column]))))
}

/** Turns claimed rows into leases. Each stamp's text is fetched only once. */
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
