import Table from 'cli-table3'
import { displayWidth, visibleLine } from './text.ts'

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => string
  /** Applied after the text was fitted. */
  readonly style?: (text: string, row: Row) => string
  readonly align?: 'left' | 'right'
  /** Never narrow this column: part of an id, for example, is useless. */
  readonly whole?: boolean
  /** The minimum useful width. */
  readonly least?: number
  /** If there is not enough room, the column with the highest rank is dropped first. Defaults to the column's position. */
  readonly rank?: number
  /**
   * Keeps the column whole while columns of a higher rank than this can be dropped; then it is cut, down to this width
   * at most.
   */
  readonly cut?: { readonly rank: number; readonly to: number }
}

const gap = 2
const leastWidth = 6

/**
 * Rows as a table without lines, at most this many terminal columns wide: long cells end in an ellipsis, and if that is
 * not enough, the least important columns are dropped.
 */
export function tableText<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  maxWidth: number,
  head: (text: string) => string,
): string {
  const natural = columns.map((column, place) => {
    const cells = rows.map((row) => visibleLine(column.cell(row)))
    const width = Math.max(...[column.head, ...cells].map(displayWidth))
    return { column, cells, width, rank: column.rank ?? place }
  })
  const shown = fitted(natural, maxWidth)
  const table = new Table({
    head: shown.map(({ column }) => head(column.head)),
    chars: noLines,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colWidths: shown.map(({ width }) => width),
    colAligns: shown.map(({ column }) => column.align ?? 'left'),
  })
  for (const [line, row] of rows.entries()) {
    table.push(shown.map(({ column, cells }) => styled(column, cells[line] ?? '', row)))
  }
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

interface Fitting<Row> {
  readonly column: Column<Row>
  readonly cells: readonly string[]
  readonly width: number
  readonly rank: number
}

function styled<Row>(column: Column<Row>, text: string, row: Row): string {
  return column.style === undefined ? text : column.style(text, row)
}

function fitted<Row>(natural: readonly Fitting<Row>[], maxWidth: number): readonly Fitting<Row>[] {
  const widths = natural.map(({ column, width }) => (column.whole ? width : Math.min(width, maxWidth)))
  while (totalWidth(widths) > maxWidth) {
    const widest = widestNarrowable(natural, widths)
    if (widest !== undefined) widths[widest] = (widths[widest] as number) - 1
    else if (widths.length > 1) return fitted(withLess(natural), maxWidth)
    else break
  }
  return natural.map((each, place) => ({ ...each, width: widths[place] as number }))
}

/** Cuts or drops what matters least. */
function withLess<Row>(columns: readonly Fitting<Row>[]): readonly Fitting<Row>[] {
  const least = columns.reduce((one, other) => (lossOf(other) >= lossOf(one) ? other : one))
  const { cut, whole: _, ...column } = least.column
  if (cut === undefined) return columns.filter((each) => each !== least)
  return columns.map((each) => (each === least ? { ...each, column: { ...column, least: cut.to } } : each))
}

function lossOf<Row>({ column, rank }: Fitting<Row>): number {
  return column.cut?.rank ?? rank
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap * (widths.length - 1))
}

function widestNarrowable<Row>(columns: readonly Fitting<Row>[], widths: readonly number[]): number | undefined {
  let widest: number | undefined
  widths.forEach((width, place) => {
    const column = columns[place]?.column
    if (column?.whole || width <= (column?.least ?? leastWidth)) return
    if (widest === undefined || width > (widths[widest] as number)) widest = place
  })
  return widest
}

const noLines = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map((place) => [place, ''])
    .concat([['middle', ' '.repeat(gap)]]),
)
