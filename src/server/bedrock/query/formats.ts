import { textOf } from '../wire/parameters.ts'
import type { BedrockRequest } from '../wire/request.ts'
import { type WireValue, wireValue } from '../wire/wire-values.ts'

export interface Table {
  readonly headers: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** How the rows of a query are written. Returns the body. */
export type Format = (table: Table, isBrief: boolean) => string

const flagsBySetting = {
  json: '-json',
  csv: '-csv',
  list: '-list',
  column: '-column',
  header: '-header',
  noHeader: '-noheader',
} as const

/** The format that a request asks for. A string says what is wrong with its flags. */
export function formatOf(request: BedrockRequest): Format | string {
  const given = [textOf(request, 'ReadDBFlags'), textOf(request, 'SQLiteArgs')].filter((text) => text !== undefined)
  const flags = given.flatMap((text) => text.split(/\s+/).filter((flag) => flag !== ''))
  const known: readonly string[] = Object.values(flagsBySetting)
  const unknown = flags.find((flag) => !known.includes(flag))
  if (unknown !== undefined) return `the flag ${unknown} is not one of ${known.join(', ')}`
  if (textOf(request, 'format')?.toLowerCase() === 'json') return jsonTable
  const hasHeader = flags.lastIndexOf(flagsBySetting.noHeader) <= flags.lastIndexOf(flagsBySetting.header)
  const format = flags.findLast((flag) => flag in byFlag)
  return format === undefined ? listOf(hasHeader) : (byFlag[format] as (hasHeader: boolean) => Format)(hasHeader)
}

const byFlag: Readonly<Record<string, (hasHeader: boolean) => Format>> = {
  [flagsBySetting.json]: () => jsonObjects,
  [flagsBySetting.csv]: (hasHeader) => linesOf(hasHeader, (cells) => cells.map(csvCell).join(',')),
  [flagsBySetting.list]: (hasHeader) => listOf(hasHeader),
  [flagsBySetting.column]: (hasHeader) => columnsOf(hasHeader),
}

function jsonTable({ headers, rows }: Table): string {
  const list = (values: readonly WireValue[]) => wireValue(values)
  return `{"headers":[${headers.map(name).join(',')}],"rows":[${rows.map(list).join(',')}]}`
}

function jsonObjects({ headers, rows }: Table): string {
  const object = (cells: readonly string[]) => `{${headers.map((each, at) => `${name(each)}:${wireValue(cells[at] as string)}`)}}`
  return `[${rows.map(object).join(',')}]\n`
}

function name(header: string): string {
  return JSON.stringify(header)
}

function listOf(hasHeader: boolean): Format {
  return (table, isBrief) => linesOf(hasHeader, (cells) => cells.join(isBrief ? ' | ' : '|'))(table, isBrief)
}

function linesOf(hasHeader: boolean, line: (cells: readonly string[]) => string): Format {
  return ({ headers, rows }) => {
    if (rows.length === 0) return ''
    return [...(hasHeader ? [headers] : []), ...rows].map((cells) => `${line(cells)}\n`).join('')
  }
}

/** Each column as wide as its widest cell, with two spaces between them. A cell of several lines takes as many lines. */
function columnsOf(hasHeader: boolean): Format {
  return ({ headers, rows }) => {
    if (rows.length === 0) return ''
    const cells = rows.map((row) => row.map((cell) => cell.split('\n')))
    const widths = headers.map((header, at) => cells.reduce((most, row) => widest(row[at], most), lengthOf(header)))
    const line = (parts: readonly string[]) =>
      `${parts.map((part, at) => part + ' '.repeat((widths[at] as number) - lengthOf(part))).join('  ')}\n`
    const head = [headers, widths.map((width) => '-'.repeat(width))]
    const body = cells.flatMap((row) => {
      const height = Math.max(...row.map(({ length }) => length))
      return Array.from({ length: height }, (_, at) => row.map((parts) => parts[at] ?? ''))
    })
    return [...(hasHeader ? head : []), ...body].map(line).join('')
  }
}

function widest(parts: readonly string[] = [], most: number): number {
  return parts.reduce((width, part) => Math.max(width, lengthOf(part)), most)
}

/** In characters, as SQLite counts them. */
function lengthOf(text: string): number {
  return [...text].length
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
