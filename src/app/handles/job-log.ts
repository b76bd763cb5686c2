import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { type LogLine, readLines } from '../../envelope/log-lines.ts'
import type { LogStore, StoredLogChunk } from '../../queue/contract/stores/log-store.ts'

/** Options for reading the log lines of a job. */
export interface LogsOptions {
  /** Return only lines after the one with this number. Default: 0, from the first line. */
  readonly after?: number
}

/** Part of a job's log, oldest line first. */
export interface JobLog {
  readonly lines: readonly LogLine[]
  /** Number of lines in this range that are no longer stored because the job logged more than is kept. */
  readonly dropped: number
  /** Number of the last line; pass it as `after` to continue. If there are no more lines, it equals the given `after`. */
  readonly last: number
}

const chunksAtOnce = 100

/** Reads one page. To read the whole log, continue after the last line until there are no more. */
export async function readJobLog(
  store: LogStore | undefined,
  id: string,
  { after = 0 }: LogsOptions,
  keys: KeyRing | null,
): Promise<JobLog> {
  const chunks = (await store?.read(id, after, chunksAtOnce)) ?? []
  const last = chunks.at(-1)?.last ?? after
  const stored = chunks.reduce((sum, chunk) => sum + countAfter(chunk, after), 0)
  const lines = chunks.flatMap((chunk) => readLines(chunk, id, keys)).filter(({ line }) => line > after)
  return { lines, dropped: last - after - stored, last }
}

function countAfter({ first, last }: StoredLogChunk, after: number): number {
  return last - Math.max(first - 1, after)
}

/** Reads the whole log, for jobs within the usual limits. */
export async function readWholeLog(store: LogStore | undefined, id: string, keys: KeyRing | null): Promise<JobLog> {
  let whole = await readJobLog(store, id, {}, keys)
  for (;;) {
    const next = await readJobLog(store, id, { after: whole.last }, keys)
    if (next.last === whole.last) return whole
    whole = { lines: [...whole.lines, ...next.lines], dropped: whole.dropped + next.dropped, last: next.last }
  }
}
