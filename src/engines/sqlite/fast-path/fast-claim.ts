import type { LeaseRequest } from '../../../queue/contract/contract.ts'
import { earliest } from '../../../queue/time/earliest.ts'
import { CountChanges } from '../../sql/lanes/counts.ts'
import { isOverdue, nextAtOf, readOutlook } from '../../sql/lanes/outlook.ts'
import { isLimited, type RankedLane } from '../../sql/lanes/ranked-lanes.ts'
import { handlingOf } from '../../sql/rows/handling.ts'
import { mostAttempts, untilNumber } from '../../sql/rows/job-row.ts'
import { stateNumber } from '../../sql/rows/tables.ts'
import type { SqliteStatement } from '../file/driver.ts'
import { done } from '../file/file-database.ts'
import { type ClaimedRows, flatColumns } from './claimed-rows.ts'
import type { FastParts } from './fast-parts.ts'

export type PlainRequest = LeaseRequest

const picking = `SELECT json_group_array(seq) AS picked FROM (
  SELECT rowid AS seq FROM treadle_jobs WHERE state = 0 AND lane = ?1 AND grp = '' ORDER BY run_at, id LIMIT ?2)`

const pickingOfMany = `SELECT json_group_array(seq) AS picked FROM (
  SELECT jobs.rowid AS seq FROM json_each(?1) AS wanted CROSS JOIN treadle_jobs AS jobs
  WHERE jobs.rowid IN (SELECT each.rowid FROM treadle_jobs AS each
    WHERE each.state = 0 AND each.lane = json_extract(wanted.value, '$[0]') AND each.grp = '' ORDER BY each.run_at, each.id LIMIT ?2)
  ORDER BY json_extract(wanted.value, '$[1]'), jobs.run_at - json_extract(wanted.value, '$[2]'), jobs.id LIMIT ?2)`

// An attempt count that is not an integer becomes null, and verification then refuses the job.
const nextAttempt = `CASE typeof(jobs.attempts) WHEN 'integer' THEN min(jobs.attempts, ${mostAttempts}) + 1 END`
const lists = flatColumns.map(
  (column) => `json_group_array(${column === 'attempts' ? nextAttempt : `jobs.${column}`}) AS ${column}`,
)
const fetching = `SELECT ${lists.join(', ')}, max(unique_until = ${untilNumber.started}) AS frees
  FROM json_each(?) AS picked CROSS JOIN treadle_jobs AS jobs ON jobs.rowid = picked.value`

const taking = `UPDATE treadle_jobs SET state = ${stateNumber.running}, token = ?1, owner = ?2, lease_until = ?3, started_at = ?4, begun = ?5,
    attempts = min(attempts, ${mostAttempts}) + 1 WHERE rowid IN (SELECT value FROM json_each(?6))`
const freeing = `UPDATE treadle_jobs SET held_key = NULL
  WHERE rowid IN (SELECT value FROM json_each(?)) AND unique_until = ${untilNumber.started}`

/** Each column as a JSON text. */
type Fetched = Readonly<Record<(typeof flatColumns)[number], string>> & { readonly frees: number | null }

/** Claims jobs that no limit applies to, when nothing else has to be done first. */
export class FastClaim {
  readonly #parts: FastParts
  readonly #statements = new Map<string, SqliteStatement>()

  constructor(parts: FastParts) {
    this.#parts = parts
  }

  claim(request: PlainRequest, claim: string): ClaimedRows | null {
    const { database, time, rules } = this.#parts
    const outlook = done(readOutlook(database, request.owner))
    if (isOverdue(outlook, time.now())) return null
    const { lanes: open, isAll } = done(rules.open(request, outlook))
    if (isLimited(request, open)) return null
    const nothing = { claim, columns: [], lanes: [], expiresAt: 0, nextAt: nextAtOf(outlook), cancelled: outlook.cancelled }
    const claimed = open.length === 0 ? nothing : database.unit(() => this.#take(request, open, nothing))
    // If others were faster, there may be more jobs beyond the lanes that were read.
    return claimed === nothing && !isAll ? { ...nothing, nextAt: time.now() } : claimed
  }

  #take(request: PlainRequest, open: readonly RankedLane[], nothing: ClaimedRows): ClaimedRows | null {
    const { database, time, rules } = this.#parts
    const picked = this.#pick(open, request.limit)
    if (picked === '[]') return nothing
    const fetched = this.#fetch(picked)
    if (fetched === null) return null
    const now = time.now()
    const expiresAt = now + request.leaseMs
    this.#statement(taking).run(nothing.claim, request.owner, expiresAt, now, handlingOf(request), picked)
    if (fetched.frees === 1) this.#statement(freeing).run(picked)
    const changes = new CountChanges()
    const numbers = JSON.parse(fetched.lane) as number[]
    changes.moveEach(numbers, stateNumber.ready, stateNumber.running)
    done(changes.write(database.session, rules.shared.counts))
    const lanes = [...new Set(numbers)].map((lane) => rules.shared.lanes.get(lane))
    const columns = flatColumns.map((column) => fetched[column])
    return { ...nothing, columns, lanes, expiresAt, nextAt: earliest([nothing.nextAt, expiresAt]) }
  }

  /** The row numbers of the best jobs, best first, as JSON text. */
  #pick(open: readonly RankedLane[], limit: number): string {
    const [first] = open as readonly [RankedLane]
    const row =
      open.length === 1
        ? this.#statement(picking).get(first.lane, limit)
        : this.#statement(pickingOfMany).get(
            JSON.stringify(open.map(({ lane, level, headStartMs }) => [lane, level, headStartMs])),
            limit,
          )
    return (row as { readonly picked: string }).picked
  }

  /** Null if a row holds a value that JSON cannot represent. */
  #fetch(picked: string): Fetched | null {
    try {
      return this.#statement(fetching).get(picked) as Fetched
    } catch {
      return null
    }
  }

  #statement(sql: string): SqliteStatement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#parts.connection.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}
