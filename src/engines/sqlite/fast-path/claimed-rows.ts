import { TreadleError } from '../../../core/errors.ts'
import { identityStart } from '../../../envelope/envelope.ts'
import type { Lease, LeaseBatch, LeaseRequest } from '../../../queue/contract/contract.ts'
import { unscopedKey } from '../../../queue/model/unique-key.ts'
import { readUntil } from '../../sql/keys/unique-keys.ts'
import type { Lane } from '../../sql/lanes/lanes.ts'
import { writeToken } from '../../sql/rows/lease-token.ts'
import type { ClaimedRow } from '../../sql/shortcuts.ts'

/** A lease request with its jobs as one JSON text. */
export interface FlatRequest extends Omit<LeaseRequest, 'jobs'> {
  readonly jobs: string
}

/**
 * The result of a claim as it crosses from the database thread: each column of its rows as one JSON text, which SQLite makes and
 * this program reads in half the time that a list for each row takes.
 */
export interface ClaimedRows {
  readonly claim: string
  /** In the order of `flatColumns`; empty if there are no rows. */
  readonly columns: readonly string[]
  /** The lanes that its rows are in. */
  readonly lanes: readonly Lane[]
  /** The expiry of all its leases. */
  readonly expiresAt: number
  readonly nextAt: number | null
  readonly cancelled: readonly string[]
}

/** The values of a row. The identity is empty if there is a stamp. */
interface FlatRow extends Omit<ClaimedRow, 'lease_until'> {
  readonly stamp: number | null
}

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
] as const satisfies readonly (keyof FlatRow)[]

type Columns = { readonly [Column in (typeof flatColumns)[number]]: readonly FlatRow[Column][] }

/** For rows that the rules have claimed, which contain their full identities. */
export function flattenRows(rows: readonly ClaimedRow[]): readonly string[] {
  if (rows.length === 0) return []
  return flatColumns.map((column) => JSON.stringify(rows.map((row) => (column === 'stamp' ? null : row[column]))))
}

/** Turns claimed rows into leases. Each stamp's text is fetched only once. */
export class ClaimReader {
  readonly #texts = new Map<number, string>()
  readonly #textsOf: (stamps: readonly number[]) => Promise<readonly string[]>

  constructor(textsOf: (stamps: readonly number[]) => Promise<readonly string[]>) {
    this.#textsOf = textsOf
  }

  async read({ claim, columns: texts, lanes: named, expiresAt, nextAt, cancelled }: ClaimedRows): Promise<LeaseBatch> {
    if (texts.length === 0) return { leases: [], nextAt, cancelled }
    const columns = readColumns(texts)
    const unknown = this.#unknownStamps(columns)
    if (unknown.length > 0) await this.#learn(unknown)
    const lanes = new Map(named.map((lane) => [lane.lane, lane]))
    const leases = columns.lane.map((lane, at) => this.#lease(columns, at, lanes.get(lane), claim, expiresAt))
    return { leases, nextAt, cancelled }
  }

  #unknownStamps({ stamp: stamps }: Columns): readonly number[] {
    const unknown = new Set<number>()
    for (const stamp of stamps) if (stamp !== null && !this.#texts.has(stamp)) unknown.add(stamp)
    return [...unknown]
  }

  async #learn(stamps: readonly number[]): Promise<void> {
    const texts = await this.#textsOf(stamps)
    stamps.forEach((stamp, index) => {
      this.#texts.set(stamp, texts[index] as string)
    })
  }

  #lease(columns: Columns, at: number, lane: Lane | undefined, claim: string, expiresAt: number): Lease {
    const id = columns.id[at] as string
    if (lane === undefined) throw new TreadleError('DATABASE_FAILED', `The lane of job ${id} does not exist`)
    const stamp = columns.stamp[at] as number | null
    const uniqueKey = columns.unique_key[at] as string | null
    const envelope = {
      id,
      number: columns.number[at] as number | null,
      job: lane.job,
      queue: lane.queue,
      priority: lane.priority,
      singleInstance: lane.single === 1,
      identity: stamp === null ? (columns.identity[at] as string) : identityStart(id) + (this.#texts.get(stamp) as string),
      payload: columns.payload[at] as string,
      signature: columns.signature[at] as string | null,
      createdAt: columns.created_at[at] as number,
      runAt: columns.run_at[at] as number,
      uniqueKey: uniqueKey === null ? null : unscopedKey(uniqueKey),
      uniqueUntil: readUntil(columns.unique_until[at] as number | null),
      group: lane.grouped === 1 ? (columns.grp[at] as string) : null,
      links: null,
    }
    return {
      token: writeToken(id, lane.lane, claim),
      envelope,
      attempt: columns.attempts[at] as number,
      rescues: columns.rescues[at] as number,
      expiresAt,
      linked: columns.linked[at] === 1,
    }
  }
}

function readColumns(texts: readonly string[]): Columns {
  return Object.fromEntries(flatColumns.map((column, index) => [column, JSON.parse(texts[index] as string)])) as Columns
}
