/** The part of a `pg` client or pool that runs statements. */
export interface PostgresQueryable {
  query(query: PostgresQuery): Promise<PostgresAnswer>
}

export interface PostgresQuery {
  readonly text: string
  readonly name?: string
  readonly values: unknown[]
  readonly types: { getTypeParser(type: number): (text: string) => unknown }
  readonly query_timeout?: number
}

export interface PostgresAnswer {
  readonly rows: unknown[]
  readonly rowCount: number | null
}

/** A connection checked out of a pool. Releasing it with an error makes the pool close it. */
export interface PostgresClient extends PostgresQueryable {
  release(error?: Error | boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** The part of `pg`'s Pool that the queue uses. */
export interface PostgresPool extends PostgresQueryable {
  connect(): Promise<PostgresClient>
  on(event: 'error', listener: (error: Error) => void): unknown
  end(): Promise<void>
}

/** The part of `pg`'s Client that the listener uses. */
export interface PostgresListening {
  connect(): Promise<unknown>
  query(query: { readonly text: string; readonly query_timeout: number }): Promise<unknown>
  on(event: 'notification', listener: (notification: { readonly payload?: string | undefined }) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  end(): Promise<void>
}
