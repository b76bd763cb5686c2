// A diagram of who says what to whom, from top to bottom.
import { arrow, box, drawing, lifeline, text } from './svg.mjs'

const laneWidth = 220
const rowHeight = 44
const top = 72

/**
 * @typedef {{ from: number, to: number, text: string, refused?: boolean }} Message
 * @typedef {{ at: number, text: string, kind?: 'box' | 'main' | 'good' | 'bad' }} Note
 */

/** @param {{ title: string, lanes: readonly string[], steps: readonly (Message | Note)[] }} description */
export function sequence({ title, lanes, steps }) {
  const width = lanes.length * laneWidth
  const height = top + steps.length * rowHeight + 16
  const x = (lane) => lane * laneWidth + laneWidth / 2
  const heads = lanes.map((lane, index) => box({ x: x(index) - 80, y: 16, width: 160, height: 34, kind: 'main', lines: [lane] }))
  const lines = lanes.map((_, index) => lifeline(x(index), 50, height - 12))
  const rows = steps.map((step, row) => stepParts(step, top + row * rowHeight + 18, x))
  return drawing({ title, width, height }, [...lines, ...heads, ...rows])
}

function stepParts(step, y, x) {
  if ('at' in step)
    return box({ x: x(step.at) - 100, y: y - 16, width: 200, height: 32, kind: step.kind ?? 'box', lines: [step.text] })
  const [from, to] = [x(step.from), x(step.to)]
  const direction = Math.sign(to - from)
  const line = arrow(`${from + 4 * direction},${y} ${to - 4 * direction},${y}`, step.refused ? 'refused' : '')
  return text((from + to) / 2, y - 7, step.text) + line
}
