import { type CommandContext, okWith } from '../commands/command.ts'
import { has, textOf } from '../wire/parameters.ts'
import { Refusal } from '../wire/refusal.ts'
import type { BedrockReply } from '../wire/reply.ts'
import type { BedrockRequest } from '../wire/request.ts'
import { type WireValue, wireValue } from '../wire/wire-values.ts'
import { readJobs } from './jobs-table.ts'
import { narrowingOf } from './narrowing.ts'
import { askProcess } from './query-child.ts'

const largestQuery = 1024 * 1024
const copyLimits = { jobs: 100_000, bytes: 64 * 1024 * 1024 }

/** Queries the jobs as a table, with SQLite's own SELECT. Nothing can be written, and nothing else can be read. */
export async function query(request: BedrockRequest, { jobs, peer, isBrief }: CommandContext): Promise<BedrockReply> {
  const sql = queryText(request).trim()
  if (sql === '' || Buffer.byteLength(sql) > largestQuery) throw new Refusal(402, 'Missing query')
  if (!sql.endsWith(';')) throw new Refusal(502, 'Query Missing Semicolon')
  if (!reading.test(sql)) return bad('only SELECT is allowed: jobs are changed by their own commands')
  const answer = await jobs.queries.inTurn(peer.signal, async () => {
    const pages = readJobs(jobs, narrowingOf(sql), copyLimits)
    return askProcess(sql, pages, jobs.deps.queue.settings.clock, peer.signal)
  })
  if ('error' in answer) return bad(answer.error)
  return okWith(isJson(request) ? jsonTable(answer) : textTable(answer, isBrief ? ' | ' : '|'))
}

/** `Query: SELECT …` in the first line, or in a header of its own. */
function queryText(request: BedrockRequest): string {
  const inMethod = /^query:(.*)$/is.exec(request.method)?.[1]
  return inMethod ?? textOf(request, 'query') ?? ''
}

const reading = /^(?:explain\s+(?:query\s+plan\s+)?)?(?:select|with|values)\b/i

function bad(error: string): BedrockReply {
  return { code: 402, text: 'Bad query', headers: { error }, body: error }
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
