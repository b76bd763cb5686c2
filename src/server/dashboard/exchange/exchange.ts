/** A request, independent of the kind of server that received it. */
export interface PageRequest {
  readonly method: string
  /** The path below the mount path, with a leading slash, still encoded. */
  readonly path: string
  readonly query: URLSearchParams
  /** Where browsers see the dashboard: empty, or a path without a trailing slash. */
  readonly base: string
  readonly isTls: boolean
  /** Looks up a header by its lower-case name. */
  header(name: string): string | undefined
  body(): Promise<unknown>
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

export interface PageAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array> | null
}

export const mostBodyBytes = 256 * 1024

export function jsonAnswer(value: unknown, status = 200): PageAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}
