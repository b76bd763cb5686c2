import Table from 'cli-table3'
import { displayWidth, visibleLine } from './text.ts'

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => string
  /** Put on after the text was fitted. */
  readonly style?: (text: string, row: Row) => string
  readonly align?: 'left' | 'right'
  /** An id is of no use in part: a column that must stay whole is never narrowed. */
  readonly whole?: boolean
}

const gap = 2
const leastWidth = 6

/**
 * Rows as a table without lines, at most so many columns of the terminal wide: long cells end in an ellipsis, and where that is
 * not enough the last columns are left out.
 */
export function tableText<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  maxWidth: number,
  head: (text: string) => string,
): string {
  const texts = rows.map((row) => columns.map((column) => visibleLine(column.cell(row))))
  const natural = columns.map((column, index) =>
    Math.max(...[column.head, ...texts.map((cells) => cells[index] ?? '')].map(displayWidth)),
  )
  const widths = fittedWidths(columns, natural, maxWidth)
  const table = new Table({
    head: widths.map((_, index) => head(columns[index]?.head ?? '')),
    chars: noLines,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colWidths: [...widths],
    colAligns: widths.map((_, index) => columns[index]?.align ?? 'left'),
  })
  rows.forEach((row, line) => {
    table.push(widths.map((_, index) => styled(columns[index] as Column<Row>, texts[line]?.[index] ?? '', row)))
  })
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

function styled<Row>(column: Column<Row>, text: string, row: Row): string {
  return column.style === undefined ? text : column.style(text, row)
}

function fittedWidths<Row>(columns: readonly Column<Row>[], natural: readonly number[], maxWidth: number): readonly number[] {
  const widths = natural.map((width, index) => (columns[index]?.whole ? width : Math.min(width, maxWidth)))
  while (totalWidth(widths) > maxWidth) {
    const widest = widestNarrowable(columns, widths)
    if (widest !== undefined) widths[widest] = (widths[widest] as number) - 1
    else if (widths.length > 1) return fittedWidths(columns, natural.slice(0, -1), maxWidth)
    else break
  }
  return widths
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap * (widths.length - 1))
}

function widestNarrowable<Row>(columns: readonly Column<Row>[], widths: readonly number[]): number | undefined {
  let widest: number | undefined
  widths.forEach((width, index) => {
    if (columns[index]?.whole || width <= leastWidth) return
    if (widest === undefined || width > (widths[widest] as number)) widest = index
  })
  return widest
}

const noLines = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map((place) => [place, ''])
    .concat([['middle', ' '.repeat(gap)]]),
)
