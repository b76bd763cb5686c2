import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import type { Attacker, Columns } from './attacker.ts'

export interface SqlAttacker extends Attacker {
  /** `{jobs}` is the table of jobs. */
  sql(statement: string): Promise<void>
}

/** `isFile`: a text that many identities end with stands elsewhere in a file. */
export function sqlAttacker(backend: WholeBackend, sql: (statement: string) => Promise<void>, isFile: boolean): SqlAttacker {
  const revision = 1_000_000
  return {
    sql,
    forge: (id, columns) => {
      const whole = isFile && 'identity' in columns ? { ...columns, stamp: null } : columns
      return sql(`UPDATE {jobs} SET ${assignments(whole)} WHERE id = '${id}'`)
    },
    forgeEdges: (of, columns) => {
      const [column, id] = Object.entries(of)[0] as [string, string]
      return sql(`UPDATE {edges} SET ${assignments(columns)} WHERE ${column} = '${id}'`)
    },
    // By the mending, which knows how each engine counts.
    release: async (id) => {
      await sql(`UPDATE {edges} SET waiting = 0 WHERE waiter = '${id}'`)
      await backend.store.sweep({ part: 'waits', limit: 1_000 })
    },
    deleteJob: (id) => sql(`DELETE FROM {jobs} WHERE id = '${id}'`),
    forgeCounter: (next) => sql(`UPDATE {numbers} SET next = ${next}`),
    forgeOnce: (kept) => sql(`UPDATE {once} SET ${assignments(kept)} WHERE done_until IS NOT NULL`),
    moveKey: async (from, to) => {
      // What finds the holder of a key is a digest of it.
      const columns = ['unique_key', 'unique_until', 'held_key']
      const setTo = (value: (column: string) => string) => columns.map((column) => `${column} = ${value(column)}`).join(', ')
      await sql(`CREATE TABLE {taken} AS SELECT ${columns.join(', ')} FROM {jobs} WHERE id = '${from}'`)
      await sql(`UPDATE {jobs} SET ${setTo(() => 'NULL')} WHERE id = '${from}'`)
      await sql(`UPDATE {jobs} SET ${setTo((column) => `(SELECT ${column} FROM {taken})`)} WHERE id = '${to}'`)
      await sql('DROP TABLE {taken}')
    },
    forgeSchedules: async (columns) => {
      await sql(`UPDATE {schedules} SET ${assignments({ ...columns, revision })}`)
      await sql(`UPDATE {schedule_revision} SET revision = ${revision}`)
    },
    copySchedules: async (name) => {
      const kept = 'expression, timezone, version, since, definition, signature'
      await sql(`INSERT INTO {schedules} (name, ${kept}, revision) SELECT '${name}', ${kept}, ${revision} FROM {schedules}`)
      await sql(`UPDATE {schedule_revision} SET revision = ${revision}`)
    },
  }
}

function assignments(columns: Columns): string {
  return Object.entries(columns)
    .map(([column, value]) => `${column} = ${literal(value)}`)
    .join(', ')
}

function literal(value: string | number | null): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}
