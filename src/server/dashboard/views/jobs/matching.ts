import type { JobFilter, JobRecord } from '../../../../queue/contract/store.ts'
import { type Comparison, comparisonOf, momentOf, type Term } from '../../shared/filter.ts'
import type { JsonNode } from '../../shared/json-tree.ts'
import type { State } from '../../shared/views/job.ts'
import type { Redaction } from './redaction.ts'

type Test = (record: JobRecord) => boolean

/** A filter split into what the store can evaluate and what is tested on the returned jobs. */
export interface Matching {
  readonly stored: Omit<JobFilter, 'limit' | 'before'>
  readonly matches: Test
  /** Jobs created before this instant cannot match, so the search ends there. */
  readonly oldest: number | null
  /** Set if the maintained counters know the number of matches. */
  readonly counted: { readonly states: readonly State[] | null; readonly terms: readonly Term[] } | null
}

export function matchingOf(terms: readonly Term[], now: number, redaction: Redaction): Matching {
  const stored: { -readonly [Name in keyof Matching['stored']]: Matching['stored'][Name] } = {}
  const tests: Test[] = []
  for (const term of terms) {
    const single = !term.negated && term.values.length === 1 ? (term.values[0] as string) : undefined
    const isExact = single !== undefined && !single.endsWith('*')
    if (isExact && term.key === 'state' && single !== 'retrying') stored.state = single as State
    else if (
      isExact &&
      (term.key === 'queue' || term.key === 'job' || term.key === 'group' || term.key === 'root' || term.key === 'tag')
    )
      stored[term.key] = single
    else if (single === 'retrying' && term.key === 'state') stored.state = 'scheduled'
    if (term.key !== 'at') tests.push(testOf(term, terms, now, redaction))
  }
  const byCreation = instantOf(terms) === 'created'
  const since = terms
    .filter(({ key, negated }) => key === 'since' && !negated)
    .map(({ values }) => momentOf(values[0] ?? '', now) ?? 0)
  return {
    stored,
    matches: (record) => tests.every((test) => test(record)),
    oldest: byCreation && since.length > 0 ? Math.max(...since) : null,
    counted: countedOf(terms),
  }
}

/** Only for conditions on states, queues and jobs given by their full names. */
function countedOf(terms: readonly Term[]): Matching['counted'] {
  const isCounted = terms.every(
    ({ key, negated, values }) =>
      !negated &&
      (key === 'state' || key === 'queue' || key === 'job') &&
      values.every((value) => !value.endsWith('*') && value !== 'retrying'),
  )
  if (!isCounted) return null
  const states = terms.find(({ key }) => key === 'state')?.values as readonly State[] | undefined
  return { states: states ?? null, terms }
}

function instantOf(terms: readonly Term[]): string {
  return terms.find(({ key }) => key === 'at')?.values[0] ?? 'created'
}

function testOf(term: Term, terms: readonly Term[], now: number, redaction: Redaction): Test {
  const any = anyOf(term, terms, now, redaction)
  return term.negated ? (record) => !any(record) : any
}

function anyOf({ key, values, path = [] }: Term, terms: readonly Term[], now: number, redaction: Redaction): Test {
  const isOne = (value: string | null) => value !== null && values.some((wanted) => fits(wanted, value))
  const hasText = (text: string) => values.some((wanted) => text.toLowerCase().includes(wanted.toLowerCase()))
  switch (key) {
    case 'state':
      return (record) => values.some((wanted) => (wanted === 'retrying' ? isRetrying(record) : wanted === record.state))
    case 'job':
      return ({ job, name }) => isOne(job) || isOne(name)
    case 'queue':
    case 'group':
    case 'schedule':
    case 'root':
    case 'reason':
      return (record) => isOne(record[key])
    case 'tag':
      return ({ tags }) => tags.some(isOne)
    case 'worker':
      return ({ owner }) => isOne(owner)
    case 'id':
      return ({ id }) => values.some((wanted) => id.startsWith(wanted.trim().toLowerCase().replace(/\*$/, '')))
    case 'since':
      return (record) => (momentFor(record, instantOf(terms)) ?? 0) >= (momentOf(values[0] ?? '', now) ?? 0)
    case 'until':
      return (record) =>
        (momentFor(record, instantOf(terms)) ?? Number.POSITIVE_INFINITY) <= (momentOf(values[0] ?? '', now) ?? 0)
    case 'attempts':
      return ({ attempts }) => values.every((value) => compares(attempts, comparisonOf(value) as Comparison))
    case 'error':
      return ({ errors, reason }) =>
        hasText(errors.map(({ message, code = '' }) => `${message} ${code}`).join('\n') + (reason ?? ''))
    case 'payload':
      return ({ payload }) => {
        const found = memberAt(redaction.searchable(payload), path)
        return found !== null && isOne(found)
      }
    case 'text':
      return (record) =>
        values.some((wanted) => record.id.startsWith(wanted.trim().toLowerCase())) || hasText(textOf(record, redaction))
    case 'at':
      return () => true
  }
}

function isRetrying({ state, attempts }: JobRecord): boolean {
  return state === 'scheduled' && attempts > 0
}

function fits(wanted: string, value: string): boolean {
  return wanted.endsWith('*') ? value.startsWith(wanted.slice(0, -1)) : wanted === value
}

function momentFor({ createdAt, finishedAt, runAt }: JobRecord, instant: string): number | null {
  return instant === 'finished' ? finishedAt : instant === 'due' ? runAt : createdAt
}

function compares(attempts: number, { operator, number }: Comparison): boolean {
  switch (operator) {
    case '<':
      return attempts < number
    case '<=':
      return attempts <= number
    case '=':
      return attempts === number
    case '>':
      return attempts > number
    case '>=':
      return attempts >= number
  }
}

const mostSearched = 64 * 1024

function textOf(record: JobRecord, redaction: Redaction): string {
  const { job, name, group, errors } = record
  const payload = record.payload.length > mostSearched ? null : redaction.searchable(record.payload)
  return [
    job,
    name,
    group ?? '',
    ...record.tags,
    errors.at(-1)?.message ?? '',
    ...(payload === null ? [] : textsIn(payload)),
  ].join('\n')
}

function textsIn(node: JsonNode): readonly string[] {
  if (node.kind === 'object') return node.members.flatMap(({ name, value }) => [name, ...textsIn(value)])
  return node.kind === 'array' ? node.items.flatMap(textsIn) : [node.text]
}

function memberAt(node: JsonNode | null, path: readonly string[]): string | null {
  let found: JsonNode | undefined | null = node
  for (const name of path) {
    if (found?.kind === 'object') found = found.members.find((member) => member.name === name)?.value
    else if (found?.kind === 'array') found = found.items[Number(name)]
    else return null
  }
  return found?.kind === 'text' || found?.kind === 'literal' ? found.text : null
}
