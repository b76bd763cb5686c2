import { type CommandContext, okWith } from '../commands/command.ts'
import { textOf } from '../wire/parameters.ts'
import { Refusal } from '../wire/refusal.ts'
import type { BedrockReply } from '../wire/reply.ts'
import type { BedrockRequest } from '../wire/request.ts'
import { formatOf, type Table } from './formats.ts'
import { readJobs } from './jobs-table.ts'
import { narrowingOf } from './narrowing.ts'
import { askProcess } from './query-child.ts'
import { areReading } from './statements.ts'

const largestQuery = 1024 * 1024
const copyLimits = { jobs: 100_000, bytes: 64 * 1024 * 1024 }

/** Queries the jobs as a table, with SQLite's own SELECT. Nothing can be written, and nothing else can be read. */
export async function query(request: BedrockRequest, { jobs, peer, isBrief }: CommandContext): Promise<BedrockReply> {
  const sql = queryText(request).trim()
  if (sql === '' || Buffer.byteLength(sql) > largestQuery) throw new Refusal(402, 'Missing query')
  if (!sql.endsWith(';')) throw new Refusal(502, 'Query Missing Semicolon')
  if (!areReading(sql)) return bad('only SELECT is allowed: jobs are changed by their own commands')
  const format = formatOf(request)
  if (typeof format === 'string') return bad(format)
  const answer = await jobs.queries.inTurn(peer.signal, async () => {
    const pages = readJobs(jobs, narrowingOf(sql), copyLimits)
    return askProcess(sql, pages, jobs.deps.queue.settings.clock, peer.signal)
  })
  if ('error' in answer) return bad(answer.error)
  return okWith(format(isBrief ? documented(answer, sql) : answer, isBrief))
}

/** The columns that the documentation of the protocol knows: a person who types `SELECT *` sees no others. */
function documented({ headers, rows }: Table, sql: string): Table {
  const at = headers.indexOf('retryAfter')
  if (at < 0 || /retryafter/i.test(sql)) return { headers, rows }
  return { headers: headers.toSpliced(at, 1), rows: rows.map((row) => row.toSpliced(at, 1)) }
}

/** `Query: SELECT …` in the first line, or in a header of its own. */
function queryText(request: BedrockRequest): string {
  const inMethod = /^query:(.*)$/is.exec(request.method)?.[1]
  return inMethod ?? textOf(request, 'query') ?? ''
}

function bad(error: string): BedrockReply {
  return { code: 402, text: 'Bad query', headers: { error }, body: error }
}
