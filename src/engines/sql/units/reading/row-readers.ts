import { wait } from '../../../../core/answer.ts'
import { digest } from '../../../../core/text/digest.ts'
import type { Seal } from '../../../../envelope/envelope.ts'
import { isFinal, jobStates } from '../../../../queue/contract/job-state.ts'
import type { PlacedLogChunk } from '../../../../queue/contract/stores/log-store.ts'
import type { GoneJobs } from '../../../../queue/contract/transfer.ts'
import type { End } from '../../../../queue/rules/workflows/waiting.ts'
import { jobsWith } from '../../keys/numbers.ts'
import type { HeldKeys } from '../../keys/unique-keys.ts'
import { type LogRow, logChunkOf, logColumns } from '../../rows/log-row.ts'
import { type OnceRow, onceColumns } from '../../rows/once-row.ts'
import { type OccurrenceValues, occurrenceReaders } from './occurrence-readers.ts'
import { grouped, type RowReader } from './row-reader.ts'

export type Body = Seal & { readonly progress: string | null }
export type Result = Pick<End, 'result' | 'seal'>

export interface ScheduleRow {
  readonly name: string
  readonly expression: string
  readonly timezone: string
  readonly version: string
  readonly definition: string | null
  readonly signature: string | null
  readonly since: number
  readonly paused_at: number | null
}

export const scheduleColumns = [
  'name',
  'expression',
  'timezone',
  'version',
  'definition',
  'signature',
  'since',
  'paused_at',
] as const satisfies readonly (keyof ScheduleRow)[]

/** What is read by name for the rules, by kind: see `Need`. */
export interface Values extends OccurrenceValues {
  readonly body: Body
  readonly result: Result
  readonly log: readonly PlacedLogChunk[]
  readonly key: HeldKeys
  readonly once: OnceRow | null
  readonly onceOf: readonly string[]
  readonly number: string | null
  readonly members: readonly string[]
  readonly gone: readonly GoneJobs[]
  readonly schedule: ScheduleRow | null
  readonly away: string | null
}

export const readers: { readonly [Kind in keyof Values]: RowReader<Values[Kind]> } = {
  ...occurrenceReaders,
  body: {
    absent: { identity: '', payload: '', signature: null, progress: null },
    /** The rows are already locked; locking them again returns their current contents. */
    *read({ session, isLocked }, ids) {
      const locking = isLocked ? 'FOR UPDATE' : ''
      const question = `SELECT id, identity, payload, signature, progress FROM {jobs} WHERE id IN (?) ORDER BY id ${locking}`
      const rows = yield* wait(session.all<Body & { readonly id: string }>(question, [ids]))
      return rows.map(({ id, ...body }) => [id, body] as const)
    },
  },
  result: {
    absent: { result: null, seal: null },
    *read({ session }, ids) {
      const rows = yield* wait(
        session.all<Result & { readonly id: string }>('SELECT id, result, seal FROM {jobs} WHERE id IN (?)', [ids]),
      )
      return rows.map(({ id, ...result }) => [id, result] as const)
    },
  },
  log: {
    absent: [],
    *read({ session }, ids) {
      const question = `SELECT ${logColumns.join(', ')} FROM {logs} WHERE job_id IN (?) ORDER BY job_id, first_line`
      const rows = yield* wait(session.all<LogRow>(question, [ids]))
      return grouped(rows, ({ job_id }) => job_id, logChunkOf)
    },
  },
  key: {
    absent: {},
    *read({ session, uniqueKeys, beside }, digests) {
      const own = yield* uniqueKeys.held(session, digests)
      const others = beside === undefined ? own : yield* uniqueKeys.held(beside, digests)
      return digests.map((digest) => [digest, { ...others.held.get(digest), ...own.held.get(digest) }] as const)
    },
  },
  once: {
    absent: null,
    *read({ session, isLocked }, keys) {
      const locking = isLocked ? 'FOR UPDATE' : ''
      const question = `SELECT ${onceColumns} FROM {once} WHERE once_key IN (?) ORDER BY once_key ${locking}`
      const rows = yield* wait(session.all<OnceRow>(question, [keys]))
      return rows.map((row) => [row.once_key, row] as const)
    },
  },
  onceOf: {
    absent: [],
    *read({ session }, ids) {
      const held = 'SELECT once_key, job_id FROM {once} WHERE done_until IS NULL AND job_id IN (?) ORDER BY once_key'
      const rows = yield* wait(session.all<Pick<OnceRow, 'once_key' | 'job_id'>>(held, [ids]))
      return grouped(
        rows,
        ({ job_id }) => job_id,
        ({ once_key }) => once_key,
      )
    },
  },
  number: {
    absent: null,
    *read({ session, beside }, numbers) {
      const wanted = numbers.map(Number)
      const others = beside === undefined ? [] : yield* jobsWith(beside, wanted)
      const own = yield* jobsWith(session, wanted)
      return [...others, ...own].map(({ number, id }) => [String(number), id] as const)
    },
  },
  members: {
    absent: [],
    *read({ session }, roots) {
      const rows = yield* wait(
        session.all<{ id: string; root: string }>('SELECT id, root FROM {links} WHERE root IN (?)', [roots]),
      )
      return grouped(
        rows,
        ({ root }) => root,
        ({ id }) => id,
      )
    },
  },
  gone: {
    absent: [],
    *read({ session }, roots) {
      const question = 'SELECT root, state, jobs FROM {gone} WHERE root IN (?) ORDER BY root, state'
      const rows = yield* wait(session.all<{ root: string; state: number; jobs: number }>(question, [roots]))
      const ended = rows.flatMap(({ root, state: number, jobs }) => {
        const state = jobStates[number]
        return state !== undefined && isFinal(state) ? [{ root, state, jobs }] : []
      })
      return grouped(
        ended,
        ({ root }) => root,
        (each) => each,
      )
    },
  },
  schedule: {
    absent: null,
    *read({ session }, names) {
      const question = `SELECT ${scheduleColumns.join(', ')} FROM {schedules} WHERE name IN (?)`
      const rows = yield* wait(session.all<ScheduleRow>(question, [names]))
      return rows.map((row) => [row.name, row] as const)
    },
  },
  away: {
    absent: null,
    *read({ session }, names) {
      const byMark = new Map(names.map((name) => [awayMark(name), name]))
      const question = 'SELECT name, target FROM {transfers} WHERE name IN (?)'
      const rows = yield* wait(session.all<{ name: string; target: string | null }>(question, [[...byMark.keys()]]))
      return rows.map(({ name, target }) => [byMark.get(name) as string, target ?? ''] as const)
    },
  },
}

/** The name of the record that a schedule was moved to another queue. */
export function awayMark(schedule: string): string {
  return `schedule:${digest(schedule)}`
}
