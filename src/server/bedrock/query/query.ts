import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../../core/clock.ts'
import { processId } from '../../../core/environment.ts'
import { type CommandContext, okWith } from '../commands/command.ts'
import { has, textOf } from '../parameters.ts'
import { Refusal } from '../refusal.ts'
import type { BedrockReply } from '../reply.ts'
import type { BedrockRequest } from '../request.ts'
import { type WireValue, wireValue } from '../wire-values.ts'
import { type JobsRow, readJobs } from './jobs-table.ts'

export type QueryAnswer =
  | { readonly headers: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly error: string }

export interface Question {
  readonly sql: string
  readonly rows: readonly JobsRow[]
  readonly mostRows: number
  readonly mostBytes: number
  /** The process that asks. */
  readonly server: number
}

const largestQuery = 1024 * 1024
const mostJobs = 100_000
const mostRows = 10_000
const mostBytes = 16 * 1024 * 1024
const longestMs = 5_000
const gone = 'its client is gone'

/** Reads the jobs as a table, with SQLite's own SELECT. Nothing can be written, and nothing else can be read. */
export async function query(request: BedrockRequest, { jobs, peer, isBrief }: CommandContext): Promise<BedrockReply> {
  const sql = queryText(request).trim()
  if (sql === '' || Buffer.byteLength(sql) > largestQuery) throw new Refusal(402, 'Missing query')
  if (!sql.endsWith(';')) throw new Refusal(502, 'Query Missing Semicolon')
  if (!reading.test(sql)) return bad('only SELECT is allowed: jobs are changed by their own commands')
  // One at a time: each takes a copy of all jobs, and a process. Of a client that has gone meanwhile it takes neither.
  const answer = await jobs.queries.alone('query', async (): Promise<QueryAnswer> => {
    if (peer.signal.aborted) return { error: gone }
    const rows = await readJobs(jobs, mostJobs, peer.signal)
    if (rows === null) return { error: `there are more than ${mostJobs} jobs, too many for a query` }
    return ask(sql, rows, jobs.deps.queue.settings.clock, peer.signal)
  })
  if ('error' in answer) return bad(answer.error)
  return okWith(isJson(request) ? jsonTable(answer) : textTable(answer, isBrief ? ' | ' : '|'))
}

/** `Query: SELECT …` in the first line, or a header of its own. */
function queryText(request: BedrockRequest): string {
  const inMethod = /^query:(.*)$/is.exec(request.method)?.[1]
  return inMethod ?? textOf(request, 'query') ?? ''
}

const reading = /^(?:select|with|values|explain)\b/i

function bad(error: string): BedrockReply {
  return { code: 402, text: 'Bad query', headers: { error }, body: error }
}

/** In a process of its own: a query that does not end can not be stopped in any other way. */
function ask(sql: string, rows: readonly JobsRow[], clock: Clock, signal: AbortSignal): Promise<QueryAnswer> {
  const child = fork(fileURLToPath(new URL('./query-process.js', import.meta.url)), {
    execArgv: ['--max-old-space-size=512'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  return new Promise((resolve) => {
    const end = (answer: QueryAnswer) => {
      timer.cancel()
      signal.removeEventListener('abort', leave)
      child.kill('SIGKILL')
      resolve(answer)
    }
    const leave = () => end({ error: gone })
    signal.addEventListener('abort', leave)
    const timer = clock.timer(longestMs, () => end({ error: `it took longer than ${longestMs / 1_000} s` }))
    child.once('message', (answer) => end(answer as QueryAnswer))
    // What the system says of its process is for nobody who asks for jobs.
    child.once('error', () => end({ error: 'it could not be begun' }))
    child.once('exit', () => end({ error: 'it ended without an answer' }))
    child.send({ sql, rows, mostRows, mostBytes, server: processId() } satisfies Question)
  })
}

function isJson(request: BedrockRequest): boolean {
  return has(request, 'format') && textOf(request, 'format')?.toLowerCase() === 'json'
}

interface Table {
  readonly headers: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

function jsonTable({ headers, rows }: Table): string {
  const list = (values: readonly WireValue[]) => wireValue(values)
  return `{"headers":[${headers.map((header) => JSON.stringify(header)).join(',')}],"rows":[${rows.map(list).join(',')}]}`
}

function textTable({ headers, rows }: Table, separator: string): string {
  if (rows.length === 0) return ''
  return [headers, ...rows].map((cells) => `${cells.join(separator)}\n`).join('')
}
