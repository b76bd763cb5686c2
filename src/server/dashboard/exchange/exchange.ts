/** A request, whatever kind of server it came to. */
export interface PageRequest {
  readonly method: string
  /** Below the mount path, beginning with a slash, as it came. */
  readonly path: string
  readonly query: URLSearchParams
  /** Where the dashboard is, as browsers see it: empty, or a path without a slash at its end. */
  readonly base: string
  readonly isTls: boolean
  /** By its name in small letters. */
  header(name: string): string | undefined
  body(): Promise<unknown>
  /** Aborted when the reader goes away. */
  readonly signal: AbortSignal
}

export interface PageAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | AsyncIterable<string> | null
}

export const mostBodyBytes = 256 * 1024

export function jsonAnswer(value: unknown, status = 200): PageAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}
