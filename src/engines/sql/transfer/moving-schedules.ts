import { type Steps, wait } from '../../../core/answer.ts'
import type { MovedSchedule, PageRequest } from '../../../queue/contract/transfer.ts'
import { lastOccurrences, MovedSchedules } from '../../../queue/rules/transfer/moved-schedules.ts'
import type { SqlSession, SqlValue } from '../session.ts'
import type { LoadedQueue } from '../units/loaded/loaded-queue.ts'
import { needs, tailNeed } from '../units/reading/needs.ts'

/** The names on the next page. */
export interface SchedulePage {
  readonly names: readonly string[]
  /** The last one; null if nothing follows. */
  readonly last: string | null
}

export function* nextSchedules(session: SqlSession, { after, queue, limit }: PageRequest): Steps<SchedulePage> {
  const values: SqlValue[] = [after?.slice(1) ?? '']
  const isOfQueue = `AND EXISTS (SELECT 1 FROM {jobs} AS jobs JOIN {lanes} AS lanes ON lanes.lane = jobs.lane
    WHERE jobs.schedule = {schedules}.name AND lanes.queue = ?)`
  if (queue !== null) values.push(queue)
  const rows = yield* wait(
    session.all<{ name: string }>(
      `SELECT {schedules}.name FROM {schedules}
       WHERE {schedules}.name > ? ${queue === null ? '' : isOfQueue} ORDER BY {schedules}.name LIMIT ?`,
      [...values, limit],
    ),
  )
  const names = rows.map(({ name }) => name)
  return { names, last: names.length < limit ? null : (names.at(-1) ?? null) }
}

/** Schedules that were moved away are left out. */
export function schedulesNamed(queue: LoadedQueue, names: readonly string[]): readonly MovedSchedule[] {
  for (const name of names) queue.rows.tails.set(name, lastOccurrences)
  queue.want([...needs('schedule', names), ...needs('away', names), ...names.map((name) => tailNeed(name, lastOccurrences))])
  return movedSchedules(queue).read(names, null)
}

export function movedSchedules(queue: LoadedQueue): MovedSchedules {
  return new MovedSchedules({ ...queue.rules, away: queue.away, numbers: { startFrom: () => {} } })
}
