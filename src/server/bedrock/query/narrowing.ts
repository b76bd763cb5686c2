import { type SqlToken, sqlTokens } from './sql-tokens.ts'

/** The jobs that a query needs, as far as it is understood. Reading more than these does no harm. */
export interface Narrowing {
  /** Job numbers; null means any. */
  readonly numbers: readonly number[] | null
  /** States; null means any. */
  readonly states: readonly string[] | null
  /** Tests that the name must all pass. */
  readonly names: readonly ((name: string) => boolean)[]
  /** How many of them are enough; null means all. */
  readonly limit: number | null
}

export const everyJob: Narrowing = { numbers: null, states: null, names: [], limit: null }
/** Statements such as `SELECT 1;`, with which clients check the connection, need no jobs at all. */
const noJob: Narrowing = { ...everyJob, limit: 0 }

const columns = new Set(
  'created jobid state name nextrun lastrun repeat data priority parentjobid retryafter'.split(' ').concat('*'),
)
/**
 * A statement with one of these words may need jobs that its conditions do not cover, or its conditions may mean something else.
 */
const beyond = new Set('or case between union intersect except join with values explain window over filter indexed'.split(' '))
const clauseEnds = new Set(['group', 'having', 'order', 'limit', ';'])
/** Maximum number of job numbers to look up one by one. */
const mostNumbers = 1_000

/**
 * Understands `SELECT … FROM jobs WHERE a AND b …;` where the conditions compare `jobID`, `state` or `name` with literals. Other
 * conditions narrow nothing. If there is any doubt about the statement as a whole, the result is every job.
 */
export function narrowingOf(sql: string): Narrowing {
  const tokens = sqlTokens(sql)
  if (tokens !== null && !tokens.some((token) => wordOf(token) === 'jobs')) return noJob
  const statement = tokens === null ? null : partsOf(tokens)
  if (statement === null) return everyJob
  const { selected, conditions, rest } = statement
  const understood = conditions.map(conditionOf)
  const lists = (kind: 'numbers' | 'states') => understood.flatMap((each) => (each?.kind === kind ? [each.values] : []))
  const isExact = understood.every((each) => each?.isExact === true)
  return {
    numbers: common(lists('numbers')) as readonly number[] | null,
    states: common(lists('states')) as readonly string[] | null,
    names: understood.flatMap((each) => (each?.kind === 'name' ? [each.test] : [])),
    limit: isExact && arePlain(selected) ? limitIn(rest) : null,
  }
}

interface StatementParts {
  readonly selected: readonly SqlToken[]
  /** The conditions, joined by `AND`. */
  readonly conditions: readonly (readonly SqlToken[])[]
  /** Everything after the conditions. */
  readonly rest: readonly SqlToken[]
}

function partsOf(tokens: readonly SqlToken[]): StatementParts | null {
  const words = tokens.map(wordOf)
  const isSimple =
    words[0] === 'select' &&
    words.at(-1) === ';' &&
    words.indexOf(';') === words.length - 1 &&
    ['select', 'from', 'jobs'].every((word) => words.filter((each) => each === word).length === 1) &&
    words.filter((each) => each === 'where').length <= 1 &&
    !words.some((word) => beyond.has(word))
  const from = words.indexOf('from')
  if (!isSimple || words[from + 1] !== 'jobs') return null
  const selected = tokens.slice(1, from)
  const after = words[from + 2] as string
  if (clauseEnds.has(after)) return { selected, conditions: [], rest: tokens.slice(from + 2) }
  if (after !== 'where') return null
  const start = from + 3
  const end = words.findIndex((word, index) => index >= start && clauseEnds.has(word))
  return { selected, conditions: splitByAnd(tokens.slice(start, end)), rest: tokens.slice(end) }
}

function splitByAnd(tokens: readonly SqlToken[]): readonly (readonly SqlToken[])[] {
  const conditions: SqlToken[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    const word = wordOf(token)
    if (word === '(') depth++
    if (word === ')') depth--
    if (word === 'and' && depth === 0) conditions.push([])
    else conditions.at(-1)?.push(token)
  }
  return conditions
}

type Condition = { readonly isExact: boolean } & (
  | { readonly kind: 'numbers' | 'states'; readonly values: readonly (string | number)[] }
  | { readonly kind: 'name'; readonly test: (name: string) => boolean }
)

/** Null if the condition is not understood. */
function conditionOf(tokens: readonly SqlToken[]): Condition | null {
  const [column, operator, ...operands] = tokens
  if (column?.kind !== 'word' || operator === undefined) return null
  const name = wordOf(column)
  const by = wordOf(operator)
  if (name === 'name' && (by === 'glob' || by === 'like')) return patternOf(by, operands)
  const values = valuesOf(by, operands, name === 'jobid' ? 'number' : 'text')
  if (values === null) return null
  if (name === 'jobid' && values.length <= mostNumbers) return { kind: 'numbers', values, isExact: true }
  if (name === 'state') return { kind: 'states', values, isExact: true }
  if (name !== 'name') return null
  const names = new Set(values)
  return { kind: 'name', test: (each) => names.has(each), isExact: true }
}

/** The values in `= 1` or `IN (1, 2)`. */
function valuesOf(by: string, operands: readonly SqlToken[], kind: SqlToken['kind']): readonly (string | number)[] | null {
  const isList = by === 'in' && operands.length >= 3 && wordOf(operands[0]) === '(' && wordOf(operands.at(-1)) === ')'
  if (!isList && !((by === '=' || by === '==') && operands.length === 1)) return null
  const items = isList ? operands.slice(1, -1) : operands
  const isFit = items.length % 2 === 1 && items.every((item, at) => (at % 2 === 0 ? item.kind === kind : wordOf(item) === ','))
  if (!isFit) return null
  const values = items.filter((_, at) => at % 2 === 0).map(({ value }) => (kind === 'number' ? Number(value) : value))
  return values.every((value) => typeof value === 'string' || Number.isSafeInteger(value)) ? values : null
}

/** Only the text before the first wildcard counts. */
function patternOf(by: 'glob' | 'like', operands: readonly SqlToken[]): Condition | null {
  const [pattern] = operands
  if (pattern?.kind !== 'text' || operands.length !== 1) return null
  const fold =
    by === 'like' ? (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()) : (text: string) => text
  const at = pattern.value.search(by === 'like' ? /[%_]/ : /[*?[]/)
  const prefix = fold(at < 0 ? pattern.value : pattern.value.slice(0, at))
  const isExact = at === pattern.value.length - 1 && /[%*]$/.test(pattern.value)
  return { kind: 'name', test: (name) => fold(name).startsWith(prefix), isExact }
}

/** The values that are in every list; null if there are no lists. */
function common(lists: readonly (readonly (string | number)[])[]): readonly (string | number)[] | null {
  const [first, ...others] = lists
  if (first === undefined) return null
  return [...new Set(first)].filter((value) => others.every((other) => other.includes(value)))
}

/** Whether only columns are selected, so that each row of the table is one row of the result. */
function arePlain(selected: readonly SqlToken[]): boolean {
  return (
    selected.length % 2 === 1 &&
    selected.every((token, at) => (at % 2 === 0 ? columns.has(wordOf(token)) : wordOf(token) === ','))
  )
}

function limitIn([limit, count, end, ...more]: readonly SqlToken[]): number | null {
  const isPlain = wordOf(limit) === 'limit' && count?.kind === 'number' && wordOf(end) === ';' && more.length === 0
  return isPlain && Number.isSafeInteger(Number(count.value)) ? Number(count.value) : null
}

/** A keyword, name or sign in lower case; empty for texts and numbers. */
function wordOf(token: SqlToken | undefined): string {
  return token?.kind === 'word' || token?.kind === 'sign' ? token.value.toLowerCase() : ''
}
