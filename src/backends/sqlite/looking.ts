import type { FinalState, JobState } from '../job-state.ts'
import { isFinal, jobStates, zeroCounts } from '../job-state.ts'
import type { JobCount, JobFilter, RemoveFilter } from '../store.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import { readAll, type SqliteStatement, type SqliteValue } from './driver.ts'
import type { Lanes } from './lanes.ts'
import type { HeldRow, JobRow } from './record.ts'
import { stateNumber } from './schema.ts'
import { identityIn } from './stamps.ts'
import type { Trees } from './trees.ts'

const select = `SELECT jobs.*, ${identityIn('jobs')} AS identity, lanes.queue, lanes.job, lanes.priority, lanes.grouped, lanes.grp, links.parent, links.root
  FROM treadle_jobs AS jobs JOIN treadle_lanes AS lanes USING (lane) LEFT JOIN treadle_links AS links USING (seq)`

// Below this many jobs in a state it is cheaper to sort them than to walk all rows from the newest.
const sortedAtMost = 50_000

/** Reads jobs and counts, and removes what has ended. */
export class Looking {
  readonly #connection: Connection
  readonly #lanes: Lanes
  readonly #addresses: Addresses
  readonly #trees: Trees
  readonly #get: SqliteStatement
  readonly #leases: SqliteStatement
  readonly #leasesOf: SqliteStatement

  constructor(connection: Connection, lanes: Lanes, addresses: Addresses, trees: Trees) {
    this.#trees = trees
    this.#addresses = addresses
    this.#connection = connection
    this.#lanes = lanes
    this.#get = connection.prepare(`${select} WHERE seq = ?`)
    const leases = (which: string) =>
      connection.prepare(
        `SELECT seq, lane, token, owner, id, lanes.job, ${identityIn('treadle_jobs')} AS identity, attempts, started_at, lease_until
         FROM treadle_jobs JOIN treadle_lanes AS lanes USING (lane)
         WHERE ${which} IN (SELECT value FROM json_each(?)) ORDER BY started_at, priority DESC, run_at, seq`,
      )
    this.#leases = leases('state = 3 AND owner')
    // By the rows alone: as a sum, the state does not call for its index.
    this.#leasesOf = leases('state + 0 = 3 AND seq')
  }

  get(id: string): JobRow | null {
    const seq = this.#addresses.find(id)
    return seq === undefined ? null : ((readAll(this.#get, seq)[0] as JobRow | undefined) ?? null)
  }

  list(filter: JobFilter): readonly JobRow[] {
    const { state } = filter
    const conditions: string[] = []
    const values: SqliteValue[] = []
    if (state !== undefined)
      conditions.push(this.#countOf(state) <= sortedAtMost ? `jobs.seq IN (${seqsOf(state)})` : `jobs.${inState(state)}`)
    if (filter.queue !== undefined) {
      conditions.push('lanes.queue = ?')
      values.push(filter.queue)
    }
    if (filter.job !== undefined) {
      conditions.push('lanes.job = ?')
      values.push(filter.job)
    }
    if (filter.group !== undefined) {
      conditions.push('lanes.grouped = 1 AND lanes.grp = ?')
      values.push(filter.group)
    }
    if (filter.root !== undefined) {
      conditions.push('jobs.seq IN (SELECT seq FROM treadle_links WHERE root = ?)')
      values.push(filter.root)
    }
    if (filter.before !== undefined) {
      conditions.push('jobs.seq < ?')
      values.push(this.#addresses.find(filter.before) ?? null)
    }
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const statement = this.#connection.prepare(`${select} ${where} ORDER BY jobs.seq DESC LIMIT ?`)
    return readAll(statement, ...values, filter.limit) as JobRow[]
  }

  counts(): readonly JobCount[] {
    const byJob = new Map<string, JobCount & { readonly counts: Record<JobState, number> }>()
    for (const lane of this.#lanes.all()) {
      const key = `${lane.queue}\n${lane.job}`
      const entry = byJob.get(key) ?? { queue: lane.queue, job: lane.job, counts: zeroCounts() }
      for (const state of jobStates) entry.counts[state] += lane[state]
      byJob.set(key, entry)
    }
    return [...byJob.values()]
  }

  /** The order of the claims is that of their times, and within one claim the order in which it chose. */
  leases(owners: readonly string[]): readonly HeldRow[] {
    return this.#leases.all(JSON.stringify(owners)) as HeldRow[]
  }

  leasesOf(ids: readonly string[]): readonly HeldRow[] {
    const seqs = ids.flatMap((id) => this.#addresses.find(id) ?? [])
    return this.#leasesOf.all(JSON.stringify(seqs)) as HeldRow[]
  }

  remove(filter: RemoveFilter): number {
    // The planner takes the partial index only where its own condition is said word by word.
    const conditions = [inState(filter.state), 'state >= 4']
    const values: SqliteValue[] = []
    if (filter.finishedBefore !== undefined) {
      conditions.push('finished_at < ?')
      values.push(filter.finishedBefore)
    }
    if (filter.ids !== undefined) {
      conditions.push('seq IN (SELECT value FROM json_each(?))')
      values.push(JSON.stringify(filter.ids.map((id) => this.#addresses.find(id) ?? null)))
    }
    for (const column of ['queue', 'job'] as const) {
      const wanted = filter[column]
      if (wanted === undefined) continue
      conditions.push(`lane IN (SELECT lane FROM treadle_lanes WHERE ${column} = ?)`)
      values.push(wanted)
    }
    if (filter.exceptJobs !== undefined && filter.exceptJobs.length > 0) {
      conditions.push('lane NOT IN (SELECT lane FROM treadle_lanes WHERE job IN (SELECT value FROM json_each(?)))')
      values.push(JSON.stringify(filter.exceptJobs))
    }
    const statement = this.#connection.prepare(
      `DELETE FROM treadle_jobs WHERE seq IN (SELECT seq FROM treadle_jobs WHERE ${conditions.join(' AND ')} LIMIT ?) RETURNING lane, seq, linked`,
    )
    const removed = statement.all(...values, filter.limit) as { lane: number; seq: number; linked: number }[]
    const state = stateNumber[filter.state as FinalState]
    for (const { lane, seq, linked } of removed) {
      this.#lanes.add(lane, state, -1)
      if (linked === 1) this.#trees.forget(seq, state)
    }
    return removed.length
  }

  #countOf(state: JobState): number {
    return this.#lanes.all().reduce((sum, lane) => sum + lane[state], 0)
  }
}

function inState(state: JobState): string {
  return `state = ${stateNumber[state]}`
}

/** The jobs of a state, from the index that holds only them. */
function seqsOf(state: JobState): string {
  if (state === 'blocked') return 'SELECT seq FROM treadle_links WHERE gives_up_at IS NOT NULL'
  const ended = isFinal(state) ? 'AND state >= 4' : ''
  return `SELECT seq FROM treadle_jobs WHERE ${inState(state)} ${ended}`
}
