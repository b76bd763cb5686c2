/** The filter language of lists: `state:dead job:send-*,resize since:24h error:"refused" -queue:low payload.order:777 0192f3`. */

/** One condition. Several values mean any of them. */
export interface Term {
  readonly key: FilterKey
  readonly negated: boolean
  readonly values: readonly string[]
  /** For a `payload.` condition: the path of members to the value. */
  readonly path?: readonly string[]
}

export type FilterKey = (typeof filterKeys)[number]

/** `text` is a bare word: the beginning of an id, or else a text to search for. */
export const filterKeys = [
  'state',
  'job',
  'queue',
  'group',
  'tag',
  'schedule',
  'worker',
  'root',
  'reason',
  'id',
  'since',
  'until',
  'at',
  'attempts',
  'error',
  'payload',
  'text',
] as const

export const filterStates = [
  'ready',
  'scheduled',
  'retrying',
  'blocked',
  'running',
  'succeeded',
  'dead',
  'cancelled',
  'skipped',
] as const

const instants = ['created', 'finished', 'due'] as const

export interface FilterProblem {
  readonly word: string
  readonly message: string
}

export type ParsedFilter =
  | { readonly terms: readonly Term[]; readonly problems?: undefined }
  | { readonly problems: readonly FilterProblem[]; readonly terms?: undefined }

const longestFilter = 2_000
const mostTerms = 30

export function parseFilter(text: string): ParsedFilter {
  if (text.length > longestFilter) {
    return { problems: [{ word: '', message: `A filter has at most ${longestFilter} characters` }] }
  }
  // PostgreSQL refuses to search for it.
  if (text.includes('\0')) return { problems: [{ word: '', message: 'A filter cannot contain the character U+0000' }] }
  const words = wordsOf(text)
  if (words.length > mostTerms) return { problems: [{ word: '', message: `A filter has at most ${mostTerms} conditions` }] }
  const read = words.map(termOf)
  const problems = read.filter((each): each is FilterProblem => 'message' in each)
  return problems.length > 0 ? { problems } : { terms: read.filter((each): each is Term => 'key' in each) }
}

/** Writes these conditions as filter text. */
export function writeFilter(terms: readonly Term[]): string {
  return terms.map(writeTerm).join(' ')
}

export function writeTerm({ key, negated, values, path }: Term): string {
  const said = values.map(quoted).join(',')
  const name = key === 'payload' ? `payload.${(path ?? []).join('.')}` : key
  return `${negated ? '-' : ''}${key === 'text' ? said : `${name}:${said}`}`
}

/** A value as written in a filter. */
export function quoted(value: string): string {
  return value === '' || /[\s,:"]|^-/.test(value) ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : value
}

/** Splits at whitespace, except inside quotes. */
function wordsOf(text: string): readonly string[] {
  return text.match(/(?:"(?:\\.|[^"\\])*"?|[^\s"])+/g) ?? []
}

function termOf(word: string): Term | FilterProblem {
  const negated = word.startsWith('-') && word.length > 1
  const rest = negated ? word.slice(1) : word
  const colon = rest.search(/:/)
  const isBare = colon < 0 || rest.startsWith('"')
  if (isBare) return { key: 'text', negated, values: valuesOf(rest) }
  const name = rest.slice(0, colon)
  const values = valuesOf(rest.slice(colon + 1))
  if (values.length === 0) return { word, message: `${name}: needs a value` }
  if (name.startsWith('payload.')) return { key: 'payload', negated, values, path: name.slice('payload.'.length).split('.') }
  const key = filterKeys.find((known) => known === name && known !== 'text' && known !== 'payload')
  if (key === undefined) return { word, message: `There is no filter "${name}:"${suggested(name, namedKeys)}` }
  const problem = valueProblem(key, values)
  return problem === undefined ? { key, negated, values } : { word, message: problem }
}

const namedKeys = [...filterKeys.filter((key) => key !== 'text' && key !== 'payload'), 'payload.PATH']

function valuesOf(text: string): readonly string[] {
  const parts = text.match(/"(?:\\.|[^"\\])*"?|[^,"]+/g) ?? []
  return parts
    .map((part) => (part.startsWith('"') ? part.replace(/^"|(?<!\\)"$/g, '').replaceAll(/\\(["\\])/g, '$1') : part))
    .filter((part) => part !== '')
}

function valueProblem(key: FilterKey, values: readonly string[]): string | undefined {
  for (const value of values) {
    if (key === 'state' && !filterStates.some((state) => state === value)) {
      return `There is no state "${value}"${suggested(value, filterStates)}`
    }
    if (key === 'at' && !instants.some((instant) => instant === value)) {
      return `at: is one of ${instants.join(', ')}, not "${value}"`
    }
    if (key === 'attempts' && comparisonOf(value) === null) return `attempts: is a number, perhaps after < or >, not "${value}"`
    if ((key === 'since' || key === 'until') && momentOf(value, 0) === null) {
      return `${key}: is an instant such as 2026-11-17T14:00Z, or how long ago, such as 24h, not "${value}"`
    }
  }
  return undefined
}

export interface Comparison {
  readonly operator: '<' | '<=' | '=' | '>' | '>='
  readonly number: number
}

export function comparisonOf(value: string): Comparison | null {
  const found = /^(<=|>=|<|>|=)?(\d{1,6})$/.exec(value)
  return found === null ? null : { operator: (found[1] ?? '=') as Comparison['operator'], number: Number(found[2]) }
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** An instant, or an age before now. */
export function momentOf(value: string, now: number): number | null {
  const ago = /^(\d{1,6})([smhdw])$/.exec(value)
  if (ago !== null) return now - Number(ago[1]) * (unitMs[ago[2] as string] as number)
  if (!/^\d{4}-\d\d-\d\d/.test(value)) return null
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : at
}

function suggested(name: string, known: readonly string[]): string {
  const near = known.toSorted((a, b) => distance(name, a) - distance(name, b))[0] as string
  return distance(name, near) <= Math.min(2, Math.ceil(near.length / 2) - 1)
    ? `. Did you mean "${near}"?`
    : `. Known are ${known.join(', ')}`
}

/** The number of letters that must be changed. */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}
