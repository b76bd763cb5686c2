import type { SqlSession } from '../../sql/session.ts'

/** What the connection's user may do with a queue; 1 means yes. */
export interface Rights {
  readonly login: string
  readonly database: string
  readonly has_schema: number
  readonly has_tables: number
  readonly may_make_schema: number
  readonly may_make_tables: number
  readonly may_use_schema: number
  /** Missing privileges on existing tables, such as "INSERT in jobs"; null if there are none. */
  readonly lacks: string | null
}

export async function rightsIn(session: SqlSession, schema: string): Promise<Rights | undefined> {
  const [rights] = await session.all<Rights>(
    `SELECT quote_ident(current_user) AS login, quote_ident(current_database()) AS database,
       (namespace.oid IS NOT NULL)::int AS has_schema, (versions.oid IS NOT NULL)::int AS has_tables,
       has_database_privilege(current_database(), 'CREATE')::int AS may_make_schema,
       has_schema_privilege(namespace.oid, 'CREATE')::int AS may_make_tables,
       has_schema_privilege(namespace.oid, 'USAGE')::int AS may_use_schema,
       (SELECT string_agg(wanted || ' in ' || relname, ', ' ORDER BY relname, wanted)
        FROM pg_catalog.pg_class CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS wanted
        WHERE relnamespace = namespace.oid AND relkind = 'r' AND NOT has_table_privilege(pg_class.oid, wanted)) AS lacks
     FROM (SELECT 1) AS one
     LEFT JOIN pg_catalog.pg_namespace AS namespace ON namespace.nspname = ?
     LEFT JOIN pg_catalog.pg_class AS versions ON versions.relnamespace = namespace.oid AND versions.relname = 'migrations'`,
    [schema],
  )
  return rights
}

export interface MissingRight {
  /** The operation that is not allowed. */
  readonly what: string
  /** The statement that grants the privilege. */
  readonly grant: string
}

/** The privilege missing for normal work, or for creating the tables if there are none; null if there is none. */
export function missingRight(rights: Rights, schema: string): MissingRight | null {
  const { login, database, has_schema, has_tables, may_make_schema, may_make_tables, may_use_schema, lacks } = rights
  if (has_schema === 0) {
    const grant = `GRANT CREATE ON DATABASE ${database} TO ${login};`
    return may_make_schema === 1 ? null : { what: 'create the schema', grant }
  }
  if (has_tables === 0) {
    const grant = `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${login};`
    return may_make_tables === 1 && may_use_schema === 1 ? null : { what: 'create the tables', grant }
  }
  const tables = `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${login};`
  if (may_use_schema === 0) return { what: 'use the schema', grant: `GRANT USAGE ON SCHEMA ${schema} TO ${login}; ${tables}` }
  if (lacks === null) return null
  const [first, ...others] = lacks.split(', ')
  return { what: `${first}${others.length === 0 ? '' : `, and ${others.length} more`}`, grant: tables }
}
