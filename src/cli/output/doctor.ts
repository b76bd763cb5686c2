import type { Finding, Verdict } from '../../backends/diagnosing.ts'
import type { Output } from './output.ts'
import { plural, visible, visibleLine, wrapped } from './text.ts'

const marks: Readonly<Record<Verdict, string>> = { ok: '✓', warning: '!', problem: '✗' }

/** What was looked at, and below it what to do. */
export function diagnosisText(url: string, findings: readonly Finding[], out: Output): string {
  if (findings.length === 0) return `${url} has no database to look at`
  const counts = (['problem', 'warning'] as const).map((verdict) => count(findings, verdict))
  const summary = counts.every((number) => number === 0)
    ? `${out.colours.green(marks.ok)} nothing is wrong`
    : `${plural(counts[0] as number, 'problem')}, ${plural(counts[1] as number, 'warning')}`
  const advice = findings.flatMap(({ check, verdict, advice: text }) => (text === null ? [] : [{ check, verdict, text }]))
  return [
    out.colours.dim(url),
    '',
    findingsTable(findings, out),
    '',
    ...advice.map(({ check, verdict, text }) => {
      return `${marked(verdict, out)} ${wrapped(`${check}: ${visible(text)}`, out.width - 2, '  ')}`
    }),
    summary,
  ].join('\n')
}

function count(findings: readonly Finding[], wanted: Verdict): number {
  return findings.filter(({ verdict }) => verdict === wanted).length
}

function findingsTable(findings: readonly Finding[], out: Output): string {
  return out.table<Finding>(
    [
      { head: '', cell: ({ verdict }) => marks[verdict], style: (_, { verdict }) => marked(verdict, out), whole: true, rank: 1 },
      { head: 'CHECK', cell: ({ check }) => check, whole: true, rank: 0 },
      { head: 'FOUND', cell: ({ found }) => visibleLine(found), least: 20, rank: 2 },
    ],
    findings,
  )
}

function marked(verdict: Verdict, { colours }: Output): string {
  switch (verdict) {
    case 'ok':
      return colours.green(marks.ok)
    case 'warning':
      return colours.yellow(marks.warning)
    case 'problem':
      return colours.red(marks.problem)
  }
}
