import type { Finding, Judgement, Verdict } from '../../queue/upkeep/diagnosis.ts'
import type { Output } from './output.ts'
import { plural, visible, visibleLine, wrapped } from './text.ts'

const marks: Readonly<Record<Verdict, string>> = { ok: '✓', warning: '!', problem: '✗' }

/** The findings, and below them what to do. */
export function diagnosisText(url: string, findings: readonly Finding[], out: Output): string {
  if (findings.length === 0) return `${url} has no database to check`
  const told = toldOnce(findings)
  const counts = (['problem', 'warning'] as const).map((verdict) => count(told, verdict))
  const summary = counts.every((number) => number === 0)
    ? `${out.colours.green(marks.ok)} no problems found`
    : `${plural(counts[0] as number, 'problem')}, ${plural(counts[1] as number, 'warning')}`
  const advice = told.flatMap(({ checks, verdict, advice: text }) => (text === null ? [] : [{ checks, verdict, text }]))
  return [
    out.colours.dim(url),
    '',
    findingsTable(findings, out),
    '',
    ...advice.map(({ checks, verdict, text }) => {
      return `${marked(verdict, out)} ${wrapped(`${checks.join(', ')}: ${visible(text)}`, out.width - 2, '  ')}`
    }),
    summary,
  ].join('\n')
}

interface ToldFinding extends Judgement {
  readonly checks: readonly string[]
}

/** Merges equal findings, because one cause may make several checks fail. */
function toldOnce(findings: readonly Finding[]): readonly ToldFinding[] {
  const firsts = findings.filter((finding) => firstAlike(finding, findings) === finding)
  return firsts.map((first) => {
    const alike = findings.filter((finding) => firstAlike(finding, findings) === first)
    return { ...first, checks: alike.map(({ check }) => check) }
  })
}

function firstAlike(finding: Finding, findings: readonly Finding[]): Finding {
  const isAlike = ({ verdict, found, advice }: Finding) =>
    verdict === finding.verdict && found === finding.found && advice === finding.advice
  return finding.advice === null ? finding : (findings.find(isAlike) ?? finding)
}

function foundText(finding: Finding, findings: readonly Finding[]): string {
  const first = firstAlike(finding, findings)
  return first === finding ? visibleLine(finding.found) : `the same as ${first.check}`
}

function count(findings: readonly Judgement[], wanted: Verdict): number {
  return findings.filter(({ verdict }) => verdict === wanted).length
}

function findingsTable(findings: readonly Finding[], out: Output): string {
  return out.table<Finding>(
    [
      { head: '', cell: ({ verdict }) => marks[verdict], style: (_, { verdict }) => marked(verdict, out), whole: true, rank: 1 },
      { head: 'CHECK', cell: ({ check }) => check, whole: true, rank: 0 },
      { head: 'FOUND', cell: (finding) => foundText(finding, findings), least: 20, rank: 2 },
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
