// The parts of a drawing: an SVG that follows the reader's light or dark theme, with boxes, lines and text.

const style = `
text { font: 14px system-ui, sans-serif; fill: #1d2733; text-anchor: middle }
.strong { font-weight: 600 } .small { font-size: 12px; fill: #556272 } .label { font-size: 13px }
.start { text-anchor: start }
.ground { fill: #ffffff } .box { fill: #f5f7f9; stroke: #9fb0c0 } .main { fill: #e3effb; stroke: #0b5cad }
.good { fill: #e2f4e7; stroke: #1e6b3a } .bad { fill: #fbe6e4; stroke: #b3261e }
.line { stroke: #556272; stroke-width: 1.5; fill: none } .life { stroke: #9fb0c0; stroke-dasharray: 4 4 }
.refused { stroke: #b3261e; stroke-dasharray: 5 4 } .head { fill: #556272 } .head-refused { fill: #b3261e }
@media (prefers-color-scheme: dark) {
text { fill: #dfe6ee } .small { fill: #9aa8b7 }
.ground { fill: #12171d } .box { fill: #1a2129; stroke: #55657a } .main { fill: #14304d; stroke: #79b8ff }
.good { fill: #16321f; stroke: #8ddb9c } .bad { fill: #3f1b1a; stroke: #ff8a80 }
.line { stroke: #9aa8b7 } .life { stroke: #55657a } .refused { stroke: #ff8a80 } .head { fill: #9aa8b7 } .head-refused { fill: #ff8a80 }
}`

/** @param {{ title: string, width: number, height: number }} size @param {readonly string[]} parts */
export function drawing({ title, width, height }, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>${style}
</style>
<defs>${arrowHead('head')}${arrowHead('head-refused')}</defs>
<rect class="ground" width="${width}" height="${height}" rx="8"/>
${parts.join('\n')}
</svg>
`
}

export function box({ x, y, width, height, kind = 'box', lines }) {
  const top = y + height / 2 - (lines.length - 1) * 9 + 5
  const texts = lines.map((line, row) => text(x + width / 2, top + row * 18, line, row === 0 ? 'strong' : 'small'))
  return `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>${texts.join('')}`
}

export function text(x, y, content, kind = 'label') {
  return `<text class="${kind}" x="${x}" y="${y}">${escaped(content)}</text>`
}

/** A line through points such as '10,20 30,20', with a head at its end. */
export function arrow(points, kind = '') {
  return `<polyline class="line ${kind}" points="${points}" marker-end="url(#${kind === 'refused' ? 'head-refused' : 'head'})"/>`
}

export function lifeline(x, from, to) {
  return `<line class="life" x1="${x}" y1="${from}" x2="${x}" y2="${to}"/>`
}

function arrowHead(name) {
  return `<marker id="${name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="${name}" d="M0 0L10 5L0 10z"/></marker>`
}

function escaped(content) {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
