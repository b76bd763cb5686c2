/** The part of a `mysql2` promise connection or pool that runs statements. */
export interface MysqlQueryable {
  query(query: MysqlQuery): Promise<readonly [unknown, unknown]>
}

/** A statement with its values written into it. */
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

/** One connection of a pool, to be given back, or to be closed where it is of no more use. */
export interface MysqlConnection extends MysqlQueryable {
  release(): void
  destroy(): void
}

/** The part of `mysql2/promise`'s Pool that the queue uses. */
export interface MysqlPool extends MysqlQueryable {
  getConnection(): Promise<MysqlConnection>
  end(): Promise<void>
}
