import { totalsOf } from '../../queue/contract/queue-counts.ts'
import { type Health, healthOf, type Looked } from '../health.ts'
import type { Colours } from '../output/output.ts'
import { displayWidth, plural, visibleLine } from '../output/text.ts'
import { roughly } from '../output/time.ts'
import { type Panel, panels, panelTable, perMinute, rowsOf, type View } from './panels.ts'

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** The longest that fits is shown: also on a narrow terminal one must find the way out. */
const helps = [
  'Tab panel  ↑↓ row  Enter look into a job  p pause or resume  r retry  ? keys  q quit',
  'Tab ↑↓ Enter  p pause  r retry  ? keys  q quit',
  '? keys  q quit',
  'q quit',
]

/** All keys, for the whole screen. */
export const keyLines: readonly string[] = [
  'KEYS',
  'Tab → l        the next panel',
  'Shift-Tab ← h  the panel before',
  '↓ j  ↑ k       the next row, the row before',
  'Enter          look into a job',
  'p              pause or resume a queue or a schedule',
  'r              put a dead job back into its queue',
  '?              these keys',
  'Esc            back',
  'q Ctrl-C       quit',
]

/** The lines of one frame, at most as many as fit. */
export function frameOf(view: View, { columns, rows }: Size, colours: Colours): readonly string[] {
  const { looked, message } = view
  const head = headLines(view, colours)
  const foot =
    message === null ? colours.dim(helps.find(({ length }) => length <= columns) ?? '') : colours.yellow(visibleLine(message))
  const room = Math.max(0, rows - head.length - 1)
  const blocks = panels.map((panel) => ({ panel, lines: panelLines(panel, view, columns, colours) }))
  const shown = shared(blocks, view, room)
  const middle = shown.flatMap(({ panel, lines }) => panelText(panel, lines, view, looked, colours))
  const body = [...head, ...middle.slice(0, room)]
  return [...body, foot].map((line) => clipped(line, columns))
}

/** The same for a file or a pipe: everything, once. */
export function plainFrame(view: View, columns: number, colours: Colours): string {
  const parts = panels.flatMap((panel) => {
    const lines = panelLines(panel, view, columns, colours)
    return lines.length === 0 ? [] : ['', title(panel, view, colours, false), ...lines]
  })
  return [...headLines(view, colours), ...parts].join('\n')
}

function headLines({ url, looked, rates, running }: View, colours: Colours): readonly string[] {
  const { counts, oldestReadyAt } = totalsOf(looked.counts)
  const health = healthOf(looked)
  const flow = rates.total()
  const facts = [
    `${counts.ready} ready`,
    ...(oldestReadyAt === null ? [] : [`oldest ${roughly(Math.max(0, looked.now - oldestReadyAt))}`]),
    `${Math.max(counts.running, running.length)} running`,
    `${counts.scheduled} scheduled`,
    `${counts.dead} dead`,
    `in ${perMinute(flow?.in)}`,
    `out ${perMinute(flow?.out)}`,
    plural(looked.workers.length, 'worker'),
  ]
  const time = new Date(looked.now).toISOString().slice(11, 19)
  return [
    `${colours.bold('treadle top')}  ${colours.dim(`${visibleLine(url)}  ${time} UTC`)}`,
    verdictText(health, colours),
    facts.join('  '),
  ]
}

function verdictText({ findings }: Health, colours: Colours): string {
  const [worst, ...others] = findings
  if (worst === undefined) return colours.green('all is well')
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  const text = `${visibleLine(worst.text)}${more}`
  return worst.level === 'problem' ? colours.red(text) : colours.yellow(text)
}

interface Block {
  readonly panel: Panel
  readonly lines: readonly string[]
}

/** The selected panel gets the space that the others leave; each of those shows three rows. */
function shared(blocks: readonly Block[], { panel, row }: View, room: number): readonly Block[] {
  const filled = blocks.filter(({ lines, panel: each }) => lines.length > 0 || each === panel)
  const short = filled.map((block) => (block.panel === panel ? block : { ...block, lines: block.lines.slice(0, 4) }))
  const others = short.reduce((sum, { panel: each, lines }) => sum + (each === panel ? 0 : lines.length + 2), 0)
  return short.map((block) => {
    if (block.panel !== panel) return block
    const [head = '', ...rest] = block.lines
    const height = Math.max(3, room - others - 3)
    const from = Math.max(0, Math.min(row - height + 1, rest.length - height))
    return { panel, lines: block.lines.length === 0 ? [] : [head, ...rest.slice(Math.max(0, from), Math.max(0, from) + height)] }
  })
}

function panelText(panel: Panel, lines: readonly string[], view: View, { counts }: Looked, colours: Colours): readonly string[] {
  const empty = panel === view.panel && lines.length === 0 ? [colours.dim(emptyText(panel, counts.length === 0))] : []
  return ['', title(panel, view, colours, panel === view.panel), ...lines, ...empty]
}

function emptyText(panel: Panel, isUnused: boolean): string {
  if (panel === 'queues' && isUnused) return 'no jobs yet: treadle send NAME'
  const texts: Readonly<Record<Panel, string>> = {
    queues: 'no queues',
    running: 'nothing runs now',
    dead: 'nothing has failed for good',
    workers: 'no live workers: treadle work',
    schedules: 'no schedules',
  }
  return texts[panel]
}

function title(panel: Panel, view: View, colours: Colours, isChosen: boolean): string {
  const text = panel.toUpperCase()
  const more = panel === view.panel && rowsOf(view).length > 0 ? ` ${view.row + 1}/${rowsOf(view).length}` : ''
  return isChosen ? `${colours.inverse(` ${text} `)}${colours.dim(more)}` : colours.bold(text)
}

/** The header and the rows of a panel; empty if there are none. */
function panelLines(panel: Panel, view: View, columns: number, colours: Colours): readonly string[] {
  const text = panelTable(panel, view, columns, colours)
  if (text === null) return []
  const [head = '', ...rows] = text.split('\n')
  return [
    head,
    ...rows.map((line, index) => (panel === view.panel && index === view.row ? marked(line, columns, colours) : line)),
  ]
}

function marked(line: string, columns: number, colours: Colours): string {
  return colours.inverse(line.padEnd(Math.min(columns, 200)))
}

const escapes = /\p{Cc}\[[0-9;]*m/gu

/** Cuts a line to the width of the terminal, so that it does not wrap, and shows that it was cut. Colours take no space. */
export function clipped(line: string, columns: number): string {
  if (displayWidth(line.replaceAll(escapes, '')) <= columns) return line
  const most = columns - 1
  let isCut = false
  let width = 0
  let text = ''
  for (const part of line.split(/(\p{Cc}\[[0-9;]*m)/u)) {
    if (part.startsWith('\u001b')) {
      text += part
      continue
    }
    for (const character of part) {
      width += displayWidth(character)
      if (width <= most) text += character
      else if (!isCut) {
        isCut = true
        text += '…'
      }
    }
  }
  return text
}
