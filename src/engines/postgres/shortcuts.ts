import type { Answer } from '../../core/answer.ts'
import { TreadleError } from '../../core/errors.ts'
import { pausedJobKey } from '../../queue/rules/claiming/pausing.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import { mostAttempts, untilNumber } from '../sql/rows/job-row.ts'
import { columnsOf, type PlainRow, plainColumns, widerColumns } from '../sql/rows/sent-rows.ts'
import { isReady, isRunning } from '../sql/rows/tables.ts'
import type { SqlDatabase } from '../sql/session.ts'
import {
  type ClaimedRow,
  claimedColumns,
  type DoneLease,
  type OpenLane,
  type ShortClaim,
  type ShortClaimed,
  type Shortcuts,
} from '../sql/shortcuts.ts'
import type { Word } from '../sql/waking/waker.ts'
import { postgresDialect } from './dialect.ts'
import type { PostgresStatements } from './statements.ts'

/** How many candidates to read per lane beyond the limit, in case other workers hold locks on the first ones. */
const slack = 50

/** Each shortcut is one statement, and so one round trip and one commit. */
export function postgresShortcuts(statements: PostgresStatements): Shortcuts {
  const plain = storing(statements, plainColumns)
  const wider = storing(statements, widerColumns)
  let mayTell = true
  const stored = async (database: SqlDatabase, rows: readonly PlainRow[], word: Word | null): Promise<Stored | undefined> => {
    const { silent, telling } = columnsOf(rows) === plainColumns ? plain : wider
    const json = JSON.stringify(rows)
    if (word !== null && mayTell) {
      try {
        const [answer] = await database.all<Stored>(telling, [json, word.channel, word.text, rows.length])
        word.isSaid = answer?.told === 1
        return answer
      } catch (thrown) {
        if (!isRefused(thrown)) throw thrown
      }
    }
    const [answer] = await database.all<Stored>(silent, [json, rows.length])
    // The server refused the notification, not the insert: a job must not be lost because of it.
    if (word !== null) mayTell = false
    return answer
  }
  return {
    async store(database, rows, word) {
      const answer = await stored(database, rows, word)
      return answer?.written === rows.length ? null : new Set(listOf(answer?.ids ?? null))
    },
    succeed: (database, done, time) => succeed(database, done, time),
    claim: (database, request) => claim(database, request),
    heedsPauses: true,
  }
}

interface Stored {
  readonly written: number
  readonly ids: string | null
  readonly told: number
}

/**
 * Committing a NOTIFY holds a server-wide lock until the commit is on disk. So only one sender per database does that at a time;
 * the others notify afterwards.
 */
const telling = `turn AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(hashtext('treadle words')) AS is_ours
  ), told AS MATERIALIZED (SELECT pg_notify(?, ?)::text FROM turn WHERE is_ours)`

/** Whether the server received the statement and rejected it. */
function isRefused(thrown: unknown): boolean {
  return thrown instanceof TreadleError && (thrown.code === 'DATABASE_FAILED' || thrown.code === 'DATABASE_DENIED')
}

/** Returns the ids of the written jobs only if some were not written. */
function storing(statements: PostgresStatements, columns: readonly string[]) {
  const written = `WITH written AS (
      ${statements.insert('jobs', columns, 'ON CONFLICT DO NOTHING RETURNING id, lane, state')}
    ), counted AS (
      INSERT INTO {counts} (lane, state, jobs) SELECT lane, state, count(*) FROM written GROUP BY lane, state
    )`
  const report = 'count(*) AS written, CASE WHEN count(*) < ? THEN array_agg(id) END AS ids'
  return {
    silent: `${written} SELECT ${report}, 0 AS told FROM written`,
    telling: `${written}, ${telling} SELECT ${report}, (SELECT count(*) FROM told) AS told FROM written`,
  }
}

/** The given time, or the server's time when it is evaluated, which is after any wait for a lock. */
const momentOr = (given: string) => `coalesce(${given}::bigint, ${postgresDialect.nowMs})`

/** Most jobs have no result, so only ids and claims are sent. The time is read once for all of them. */
const succeeding = (given: string, result: string, seal: string) => `WITH ended AS (
    UPDATE {jobs} AS jobs SET state = 4, finished_at = (SELECT ${momentOr('?')}), result = ${result}, seal = ${seal}, lease_until = NULL,
      cancel = 0, held_key = NULL
    FROM ${given}
    WHERE jobs.id = given.id AND jobs.token = given.claim AND jobs.${isRunning} AND jobs.linked = 0 AND jobs.schedule IS NULL
    RETURNING jobs.id, jobs.lane
  ), counted AS (
    INSERT INTO {counts} (lane, state, jobs)
    SELECT lane, step.state, step.sign * count(*) FROM ended CROSS JOIN (VALUES (3, -1), (4, 1)) AS step(state, sign)
    GROUP BY lane, step.state, step.sign
  ) SELECT count(*) AS ended, CASE WHEN count(*) < ? THEN array_agg(id) END AS ids FROM ended`
const succeedingWithResults = succeeding(
  'json_to_recordset(?::text::json) AS given(id uuid, claim text, result text, seal text)',
  'given.result',
  'given.seal',
)
const succeedingWithout = succeeding('unnest(?::uuid[], ?::text[]) AS given(id, claim)', 'NULL', 'NULL')

async function succeed(database: SqlDatabase, done: readonly DoneLease[], time: QueueTime): Promise<ReadonlySet<string> | null> {
  // In a fixed order, so that two statements on the same jobs do not deadlock.
  const sorted = [...done].sort((a, b) => (a.id < b.id ? -1 : 1))
  const isPlain = sorted.every(({ result, seal }) => result === null && seal === null)
  const [answer] = isPlain ? await succeedPlainly(database, sorted, time) : await succeedWithResults(database, sorted, time)
  if (answer?.ended === done.length) return null
  return new Set(listOf(answer?.ids ?? null))
}

interface Succeeded {
  readonly ended: number
  readonly ids: string | null
}

function succeedPlainly(database: SqlDatabase, done: readonly DoneLease[], time: QueueTime): Answer<Succeeded[]> {
  const values = [time.stated(), arrayOf(done.map(({ id }) => id)), arrayOf(done.map(({ claim }) => claim)), done.length]
  return database.all<Succeeded>(succeedingWithout, values)
}

function succeedWithResults(database: SqlDatabase, done: readonly DoneLease[], time: QueueTime): Answer<Succeeded[]> {
  const given = done.map(({ id, claim, result, seal }) => ({ id, claim, result, seal }))
  return database.all<Succeeded>(succeedingWithResults, [time.stated(), JSON.stringify(given), done.length])
}

/**
 * What a claim does with the jobs it has locked; a locked row keeps its ctid. The time is read once all of them are locked. A
 * claim lost in a power cut is simply made again, so it does not wait for the disk.
 */
const taking = `moment AS MATERIALIZED (
    SELECT ${momentOr('?')} AS at FROM (SELECT count(*) FROM locked) AS locking
  ), taken AS (
    UPDATE {jobs} AS jobs SET state = 3, token = ?, owner = ?, lease_until = (SELECT at FROM moment) + ?,
      started_at = (SELECT at FROM moment), begun = ?, attempts = LEAST(attempts, ${mostAttempts}) + 1,
      held_key = CASE WHEN unique_until = ${untilNumber.started} THEN NULL ELSE held_key END
    FROM locked WHERE jobs.ctid = locked.ctid
    RETURNING ${claimedColumns.map((column) => `jobs.${column}`).join(', ')}
  ), counted AS (
    INSERT INTO {counts} (lane, state, jobs)
    SELECT lane, step.state, step.sign * count(*) FROM taken CROSS JOIN (VALUES (0, -1), (3, 1)) AS step(state, sign)
    GROUP BY lane, step.state, step.sign
  )`
/** Set once for the whole statement, which is the transaction. */
const unsynced = "unsynced AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))"

const unpaused = (queue: string, job: string) => `NOT EXISTS (SELECT FROM {paused} WHERE queue IN (${queue}, ${job}))`

const candidates = `candidates AS MATERIALIZED (
    SELECT first.id, wanted.level, first.run_at - wanted.head_start AS rank
    FROM json_to_recordset(?::text::json) AS wanted(lane integer, queue text, job text, level integer, head_start bigint)
    CROSS JOIN LATERAL (
      SELECT id, run_at FROM {jobs} AS jobs
      WHERE state = 0 AND jobs.lane = wanted.lane AND jobs.grp = '' AND ${unpaused('wanted.queue', 'wanted.job')}
      ORDER BY run_at, id LIMIT ?) AS first
    ORDER BY wanted.level, rank, first.id LIMIT ?
  ), locked AS MATERIALIZED (
    SELECT jobs.ctid FROM candidates JOIN {jobs} AS jobs ON jobs.id = candidates.id AND jobs.${isReady}
    ORDER BY candidates.level, candidates.rank, candidates.id LIMIT ? FOR UPDATE OF jobs SKIP LOCKED
  )`
/** How many jobs could have been claimed, though other workers may have locked them. */
const seen = '(SELECT count(*) FROM candidates)'

const claimingOfMany = `WITH ${candidates}, ${taking}, ${unsynced} SELECT taken.*, ${seen} AS seen FROM taken CROSS JOIN unsynced`

/** For a single lane: locks the first jobs as they are read and skips those that others have locked. */
const claimingOfOne = `WITH locked AS MATERIALIZED (
    SELECT ctid FROM {jobs} AS jobs WHERE state = 0 AND lane = ? AND grp = '' AND ${unpaused('?', '?')}
    ORDER BY run_at, id LIMIT ? FOR UPDATE SKIP LOCKED
  ), ${taking}, ${unsynced} SELECT taken.* FROM taken CROSS JOIN unsynced`

async function claim(database: SqlDatabase, request: ShortClaim): Promise<ShortClaimed> {
  const { lanes, limit, claim: token, owner, time, leaseMs, begun } = request
  const lease = [time.stated(), token, owner, leaseMs, begun]
  if (lanes.length === 1) {
    const [{ lane, queue, job }] = lanes as readonly [OpenLane]
    const rows = await database.all<ClaimedRow>(claimingOfOne, [lane, queue, pausedJobKey(job), limit, ...lease])
    return { rows, isContended: false }
  }
  const wanted = lanes.map(({ lane, queue, job, level, headStartMs }) => {
    return { lane, queue, job: pausedJobKey(job), level, head_start: headStartMs }
  })
  const most = limit + slack
  const values = [JSON.stringify(wanted), most, most, limit, ...lease]
  const rows = await database.all<ClaimedRow & { readonly seen: number }>(claimingOfMany, values)
  return { rows, isContended: rows.length < limit && rows.length < (rows[0]?.seen ?? 1) }
}

/** A PostgreSQL array literal. Ids and claims contain nothing that needs quoting. */
function arrayOf(words: readonly string[]): string {
  return `{${words.join(',')}}`
}

function listOf(text: string | null): readonly string[] {
  return text === null || text === '{}' ? [] : text.slice(1, -1).split(',')
}
