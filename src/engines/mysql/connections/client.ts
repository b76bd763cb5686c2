/** The part of a `mysql2` promise connection or pool that runs statements. */
export interface MysqlQueryable {
  query(query: MysqlQuery): Promise<readonly [unknown, unknown]>
}

/** A statement that includes its values as literals. */
export interface MysqlQuery {
  readonly sql: string
  readonly typeCast: (field: MysqlField, next: () => unknown) => unknown
  readonly rowsAsArray: false
  readonly nestTables: false
  readonly namedPlaceholders: false
  readonly timeout?: number
}

export interface MysqlField {
  readonly type: string
  string(encoding?: 'utf8'): string | null
}

/** A connection checked out of a pool, to be released, or destroyed if it is broken. */
export interface MysqlConnection extends MysqlQueryable {
  release(): void
  destroy(): void
}

/** The part of `mysql2/promise`'s Pool that the queue uses. */
export interface MysqlPool extends MysqlQueryable {
  getConnection(): Promise<MysqlConnection>
  end(): Promise<void>
}
