import type { SqlSession } from './session.ts'

/**
 * Another number after each change of a schedule. Whoever changes schedules or stores occurrences holds its row: so nobody stores an
 * occurrence of a schedule that is being paused, changed or removed, and nobody goes on from an occurrence that is not the latest.
 */
export class ScheduleRevision {
  async read(session: SqlSession): Promise<number> {
    const [row] = await session.all<{ revision: number }>('SELECT revision FROM {schedule_revision}')
    return row?.revision ?? 0
  }

  /** Until the transaction ends. */
  async hold(session: SqlSession): Promise<void> {
    await session.all('SELECT revision FROM {schedule_revision} FOR UPDATE')
  }

  async advance(session: SqlSession): Promise<void> {
    await session.run('UPDATE {schedule_revision} SET revision = revision + 1')
  }
}
