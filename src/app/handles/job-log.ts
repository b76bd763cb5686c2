import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { type LogLine, readLines } from '../../envelope/log-lines.ts'
import type { LogStore, StoredLogChunk } from '../../queue/contract/log-store.ts'

/** Options for reading the log lines of a job. */
export interface LogsOptions {
  /** Only lines after this one, by its number; 0 is from the first one on. */
  readonly after?: number
}

/** A part of what a job has logged, oldest first. */
export interface JobLog {
  readonly lines: readonly LogLine[]
  /** How many lines in between are not stored any more, because the job logged more than is kept. */
  readonly dropped: number
  /** The number of the last line, to go on behind; what was asked for where there are no more lines. */
  readonly last: number
}

const chunksAtOnce = 100

/** One page of it. To read all of it, continue after the last line until there are no more. */
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

/** All of it, for a job of the usual bounds. */
export async function readWholeLog(store: LogStore | undefined, id: string, keys: KeyRing | null): Promise<JobLog> {
  let whole = await readJobLog(store, id, {}, keys)
  for (;;) {
    const next = await readJobLog(store, id, { after: whole.last }, keys)
    if (next.last === whole.last) return whole
    whole = { lines: [...whole.lines, ...next.lines], dropped: whole.dropped + next.dropped, last: next.last }
  }
}
