import Table from 'cli-table3'
import colors from 'picocolors'

/** The whole report for a person: the machine, all figures, and the bars with their marks. */
export function report({ machine, rounds, quick, results, verdicts, problems }) {
  const parts = [
    heading(machine, rounds, quick),
    figures(results),
    ...memory(results),
    schedules(results),
    isolation(results),
    judgement(verdicts),
    trouble(problems),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function heading({ date, cpu, cores, memoryGb, system, node, versions }, rounds, quick) {
  const of = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [
    `${date} UTC, ${cores} cores of ${cpu}, ${memoryGb} GB, ${system}, Node ${node}`,
    `${of.join(', ')}; median of ${rounds} round${rounds === 1 ? '' : 's'}${quick ? ', quick: too short to be quoted' : ''}`,
  ].join('\n')
}

const columns = ['treadle', 'plainjob NORMAL', 'plainjob FULL', 'raw']

/** Rates with the lowest and highest round, latencies as p50 and p99. */
function figures(results) {
  const table = newTable(['', 'Treadle (FULL)', ...columns.slice(1)])
  for (const result of results.filter(({ figure }) => figure === 'rate' || figure === 'latency')) table.push(...linesOf(result))
  return table.length === 0 ? '' : table.toString()
}

/** Treadle beside itself takes two lines, one under the other; everyone else has a column. */
function linesOf({ id, title, figure, medians, samples }) {
  const of = (column) => cell(figure, medians[column], samples[column])
  if (id === 'backlog')
    return [besideItself('drain in an empty file', of('treadle')), besideItself(title, of('treadle, backlog'))]
  const variants = Object.keys(medians).filter((column) => column.startsWith('treadle, '))
  return [
    [title, ...columns.map(of)],
    ...variants.map((column) => besideItself(`${title}, ${column.slice('treadle, '.length)}`, of(column))),
  ]
}

function besideItself(title, figure) {
  return [title, figure, '', '', '']
}

function cell(figure, median, samples) {
  if (median === undefined) return ''
  if (figure === 'latency') return `p50 ${milliseconds(median.p50)}\np99 ${milliseconds(median.p99)}`
  const rates = samples.map(({ rate }) => rate)
  const spread = rates.length > 1 ? colors.dim(`\n${whole(Math.min(...rates))} … ${whole(Math.max(...rates))}`) : ''
  return `${perSecond(median.rate)}${spread}`
}

function memory(results) {
  return results
    .filter(({ figure, medians }) => figure === 'memory' && medians.treadle !== undefined)
    .map(({ title, medians, samples }) => {
      const [{ heapMb, rssMb }] = samples.treadle
      const list = (amounts) => amounts.map((amount) => amount.toFixed(1)).join(', ')
      return [
        `${title}: ${medians.treadle.growthMb.toFixed(2)} MB`,
        `  heap after each step: ${list(heapMb)} MB; the whole process: ${list(rssMb)} MB`,
      ].join('\n')
    })
}

const libraries = ['treadle', 'croner', 'cron-parser']

/** How often in a second each finds the next occurrence. */
function schedules(results) {
  const table = newTable(['', 'Treadle', ...libraries.slice(1)])
  for (const { title, medians, samples } of results.filter(({ figure }) => figure === 'next')) {
    table.push([title, ...libraries.map((library) => cell('rate', medians[library], samples[library]))])
  }
  return table.length === 0 ? '' : table.toString()
}

/** What an isolate costs: jobs a second in one that is warm, and how long the first job waits for it. */
function isolation(results) {
  const table = newTable(['', 'in the worker', 'thread', 'process'])
  for (const { title, medians, samples } of results.filter(({ figure }) => figure === 'isolation')) {
    const kinds = ['here', 'thread', 'process']
    const of = (show) => kinds.map((kind) => (medians[kind] === undefined ? '' : show(kind)))
    table.push([title, ...of((kind) => cell('rate', medians[kind], samples[kind]))])
    if (medians.here !== undefined)
      table.push(['  of those in the worker', ...of((kind) => times(medians[kind].rate / medians.here.rate))])
    table.push(['  the first one, cold', ...of((kind) => milliseconds(medians[kind].startMs))])
  }
  return table.length === 0 ? '' : table.toString()
}

function judgement(verdicts) {
  if (verdicts.length === 0) return ''
  const table = newTable(['', 'Treadle', 'against', '', 'ratio', 'bar', ''])
  for (const { title, figure, against, ours, theirs, value, atLeast, below, passed } of verdicts) {
    const shown = figure === 'rate' ? perSecond : milliseconds
    const mark = passed ? colors.green('PASS') : colors.red('MISS')
    const name = figure === 'rate' ? title : `${title}, ${figure}`
    if (theirs === undefined) table.push([name, shown(ours), '', '', '', `< ${milliseconds(below)}`, mark])
    else table.push([name, shown(ours), opponent(against), shown(theirs), times(value), `>= ${times(atLeast)}`, mark])
  }
  const missed = verdicts.filter(({ passed }) => !passed).length
  return `${table.toString()}\n${verdicts.length - missed} of ${verdicts.length} bars reached`
}

function opponent(column) {
  return column === 'treadle' ? 'itself, empty file' : column
}

function trouble(problems) {
  return problems.map(({ row, column, message }) => `not measured: ${row} of ${column}: ${message}`).join('\n')
}

function newTable(head) {
  const colAligns = head.map((_, index) => (index === 0 ? 'left' : 'right'))
  return new Table({ head, colAligns, style: { head: [], border: [], compact: true } })
}

function perSecond(rate) {
  return `${whole(rate)}/s`
}

function whole(number) {
  return Math.round(number).toLocaleString('en-US')
}

function milliseconds(amount) {
  return amount >= 100 ? `${Math.round(amount)} ms` : `${Number(amount.toPrecision(3))} ms`
}

function times(ratio) {
  return `${ratio >= 10 ? ratio.toFixed(1) : ratio.toFixed(2)}x`
}
