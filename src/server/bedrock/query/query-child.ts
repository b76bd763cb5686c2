import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ownFile } from '../../../core/files/own-file.ts'
import { processId } from '../../../core/process/environment.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { type JobsRow, QueryTooLarge } from './jobs-table.ts'

export type QueryAnswer =
  | { readonly headers: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly error: string }

export type ToQueryProcess =
  /** `server` is the process id of the server. */
  | { readonly kind: 'begin'; readonly server: number; readonly mostMemoryBytes: number }
  | { readonly kind: 'rows'; readonly rows: readonly JobsRow[] }
  | { readonly kind: 'ask'; readonly sql: string; readonly mostRows: number; readonly mostBytes: number }

const mostRows = 10_000
const mostBytes = 16 * 1024 * 1024
const mostMemoryBytes = 768 * 1024 * 1024
const longestMs = 5_000

/**
 * Runs the query in its own process: there is no other way to stop a query that does not end. The jobs are read while they are
 * copied, one page at a time.
 */
export async function askProcess(
  sql: string,
  pages: AsyncIterable<readonly JobsRow[]>,
  clock: Clock,
  signal: AbortSignal,
): Promise<QueryAnswer> {
  if (signal.aborted) return gone
  const child = fork(fileURLToPath(ownFile('server/bedrock/query/query-process.js')), {
    execArgv: ['--max-old-space-size=256'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const ending = new Promise<QueryAnswer>((resolve) => {
    child.once('message', (answer) => resolve(answer as QueryAnswer))
    // The system's error message is not meant for clients.
    child.once('error', () => resolve({ error: 'it could not be begun' }))
    child.once('exit', () => resolve({ error: 'it ended without an answer: it may need more memory than a query may take' }))
    signal.addEventListener('abort', () => resolve(gone), { once: true })
  })
  const timer = { cancel: () => {} }
  try {
    let hasEnded = false
    void ending.then(() => {
      hasEnded = true
    })
    await send(child, { kind: 'begin', server: processId(), mostMemoryBytes })
    for await (const rows of pages) {
      if (hasEnded) return await ending
      await send(child, { kind: 'rows', rows })
    }
    await send(child, { kind: 'ask', sql, mostRows, mostBytes })
    const late = new Promise<QueryAnswer>((resolve) => {
      const { cancel } = clock.timer(longestMs, () => resolve({ error: `it took longer than ${longestMs / 1_000} s` }))
      timer.cancel = cancel
    })
    return await Promise.race([ending, late])
  } catch (thrown) {
    if (thrown instanceof QueryTooLarge) return { error: thrown.message }
    throw thrown
  } finally {
    timer.cancel()
    child.kill('SIGKILL')
  }
}

const gone: QueryAnswer = { error: 'its client is gone' }

/** Resolves when the message is written, or immediately if the process has ended, which is reported separately. */
function send(child: ChildProcess, message: ToQueryProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.connected) child.send(message, () => resolve())
    else resolve()
  })
}
