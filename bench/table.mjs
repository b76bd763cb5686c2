import Table from 'cli-table3'
import colors from 'picocolors'
import { plans } from './plan.mjs'

/** The whole report for a person: the machine, and for each engine all figures, and the bars with their marks. */
export function report({ machine, rounds, quick, engines }) {
  return [heading(machine, rounds, quick), ...engines.flatMap(engineParts)].filter((part) => part !== '').join('\n\n')
}

function heading({ date, cpu, cores, memoryGb, system, node, versions }, rounds, quick) {
  const of = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [
    `${date} UTC, ${cores} cores of ${cpu}, ${memoryGb} GB, ${system}, Node ${node}`,
    `${of.join(', ')}; median of ${rounds} round${rounds === 1 ? '' : 's'}${quick ? ', quick: too short to be quoted' : ''}`,
  ].join('\n')
}

function engineParts({ name, description, results, verdicts, problems }) {
  return [
    colors.bold(description),
    figures(results, plans[name].columns),
    ...memory(results),
    schedules(results),
    isolation(results),
    names(results),
    judgement(verdicts),
    trouble(problems),
  ]
}

/** Rates with the lowest and highest round, latencies as p50 and p99. */
function figures(results, columns) {
  const table = newTable(['', ...Object.values(columns)])
  for (const result of results) {
    if (result.figure === 'rate' || result.figure === 'latency') table.push(...linesOf(result, Object.keys(columns)))
    if (result.figure === 'backlog') table.push(...backlogLines(result, Object.keys(columns)))
  }
  return table.length === 0 ? '' : table.toString()
}

/** Treadle beside itself takes a line of its own; everyone else has a column. */
function linesOf({ title, figure, medians, samples }, columns) {
  const of = (column) => cell(figure, medians[column], samples[column])
  const variants = Object.keys(medians).filter((column) => column.startsWith('treadle, '))
  return [
    [title, ...columns.map(of)],
    ...variants.map((column) => alone(`${title}, ${column.slice('treadle, '.length)}`, of(column), columns)),
  ]
}

/** Which jobs were drained, where these are not like those that they were drained beside. */
const drained = { rate: '', ahead: ': jobs of higher priority', elsewhere: ': jobs of another queue' }

function backlogLines({ title, medians, samples }, columns) {
  const of = (column, figure) => cell(figure, medians[column], samples[column])
  return Object.entries(drained)
    .filter(([figure]) => medians.treadle?.[figure] !== undefined)
    .flatMap(([figure, which]) => [
      alone(`drain with nothing else${which}`, of('treadle', figure), columns),
      alone(`${title}${which}`, of('treadle, backlog', figure), columns),
    ])
}

function alone(title, figure, columns) {
  return [title, figure, ...columns.slice(1).map(() => '')]
}

function cell(figure, median, samples) {
  if (median === undefined) return ''
  if (figure === 'latency') return `p50 ${milliseconds(median.p50)}\np99 ${milliseconds(median.p99)}`
  const rates = samples.map((sample) => sample[figure])
  const spread = rates.length > 1 ? colors.dim(`\n${whole(Math.min(...rates))} … ${whole(Math.max(...rates))}`) : ''
  return `${perSecond(median[figure])}${spread}`
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

const namedOperations = ['claim', 'wake', 'unique', 'pattern', 'status']

/** What it costs alone, and beside very many names or queues. */
function names(results) {
  const table = newTable(['', ...namedOperations])
  for (const { title, medians } of results.filter(({ figure, medians }) => figure === 'names' && medians.treadle !== undefined)) {
    const of = (part) => namedOperations.map((what) => milliseconds(medians.treadle[`${what}${part}`]))
    table.push(['alone', ...of('Alone')], [title, ...of('Beside')])
  }
  return table.length === 0 ? '' : table.toString()
}

function judgement(verdicts) {
  if (verdicts.length === 0) return ''
  const table = newTable(['', 'Treadle', 'against', '', 'ratio', 'bar', ''])
  for (const { title, figure, against, ours, theirs, value, atLeast, atMost, below, passed } of verdicts) {
    const shown = figure === 'p50' || figure === 'p99' ? milliseconds : namedOperations.includes(figure) ? times : perSecond
    const mark = passed ? colors.green('PASS') : colors.red('MISS')
    const name = `${title}${drained[figure] ?? `, ${figure}`}`
    const rival = theirs === undefined ? ['', '', ''] : [opponent(against), shown(theirs), times(value)]
    table.push([name, shown(ours), ...rival, barOf({ atLeast, atMost, below }), mark])
  }
  const missed = verdicts.filter(({ passed }) => !passed).length
  return `${table.toString()}\n${verdicts.length - missed} of ${verdicts.length} bars reached`
}

function barOf({ atLeast, atMost, below }) {
  if (below !== undefined) return `< ${milliseconds(below)}`
  return atLeast === undefined ? `<= ${times(atMost)}` : `>= ${times(atLeast)}`
}

function opponent(column) {
  return column === 'treadle' ? 'itself, alone' : column
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
