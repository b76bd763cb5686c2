/** One line of metrics, as a strict reader of the Prometheus text format understands it. */
export interface ParsedSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface ParsedFamily {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: readonly ParsedSample[]
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*/
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*/
const types = ['counter', 'gauge', 'histogram', 'summary', 'untyped']

/**
 * Reads the text format 0.0.4 and throws at whatever promtool or another strict reader would refuse: bad names and escapes, a
 * family that appears twice or in pieces, samples before their type, the same series twice, a missing end of line, and histograms
 * that do not add up.
 */
export function parseExposition(text: string): ReadonlyMap<string, ParsedFamily> {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end')
  const families = new Map<string, { name: string; type: string; help: string; samples: ParsedSample[] }>()
  const seen = new Set<string>()
  let current: { name: string; type: string; help: string; samples: ParsedSample[] } | undefined
  for (const line of text.split('\n').slice(0, -1)) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line)
    if (comment !== null) {
      const [, word, name = '', rest = ''] = comment
      if (word === 'HELP') {
        if (families.has(name)) throw new Error(`${name} appears twice`)
        if (!/^(?:[^\\]|\\[\\n])*$/.test(rest)) throw new Error(`a bad escape in the help of ${name}`)
        current = { name, type: '', help: rest, samples: [] }
        families.set(name, current)
      } else {
        if (current?.name !== name || current.type !== '') throw new Error(`the type of ${name} stands in the wrong place`)
        if (!types.includes(rest)) throw new Error(`${name} has the unknown type ${rest}`)
        current.type = rest
      }
      continue
    }
    if (line === '' || line.startsWith('#')) throw new Error(`neither a sample nor a comment: ${line}`)
    const sample = parseSample(line)
    if (current === undefined || current.type === '') throw new Error(`a sample before its type: ${line}`)
    if (!belongs(sample.name, current)) throw new Error(`${sample.name} stands below ${current.name}`)
    const series = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`
    if (seen.has(series)) throw new Error(`the same series twice: ${line}`)
    seen.add(series)
    current.samples.push(sample)
  }
  for (const family of families.values()) {
    if (family.samples.length === 0) throw new Error(`${family.name} has no samples`)
    if (family.type === 'counter' && !family.name.endsWith('_total'))
      throw new Error(`${family.name} is a counter without _total`)
    if (family.type === 'counter' && family.samples.some(({ value }) => !(value >= 0)))
      throw new Error(`${family.name} is below 0`)
    if (family.type === 'histogram') checkHistogram(family)
  }
  return families
}

function belongs(name: string, family: { name: string; type: string }): boolean {
  if (family.type !== 'histogram') return name === family.name
  return ['_bucket', '_sum', '_count'].some((ending) => name === `${family.name}${ending}`)
}

function parseSample(line: string): ParsedSample {
  const name = metricName.exec(line)?.[0]
  if (name === undefined) throw new Error(`no name: ${line}`)
  let rest = line.slice(name.length)
  const labels: Record<string, string> = {}
  if (rest.startsWith('{')) {
    rest = rest.slice(1)
    while (!rest.startsWith('}')) {
      const label = labelName.exec(rest)?.[0]
      if (label === undefined || label.startsWith('__')) throw new Error(`a bad label: ${line}`)
      const quoted = /^="((?:[^"\\\n]|\\[\\"n])*)"/.exec(rest.slice(label.length))
      if (quoted === null) throw new Error(`a bad label value: ${line}`)
      if (label in labels) throw new Error(`a label twice: ${line}`)
      labels[label] = (quoted[1] as string).replace(/\\(.)/g, (_, mark: string) => (mark === 'n' ? '\n' : mark))
      rest = rest.slice(label.length + quoted[0].length)
      if (rest.startsWith(',')) rest = rest.slice(1)
      else if (!rest.startsWith('}')) throw new Error(`labels that do not end: ${line}`)
    }
    rest = rest.slice(1)
  }
  const value = /^ ([+-]Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.exec(rest)?.[1]
  if (value === undefined) throw new Error(`a bad value: ${line}`)
  return { name, labels, value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) }
}

function checkHistogram({ name, samples }: ParsedFamily): void {
  const series = new Map<string, ParsedSample[]>()
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels
    const key = JSON.stringify(labels)
    series.set(key, [...(series.get(key) ?? []), sample])
  }
  for (const [key, own] of series) {
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`)
    const counts = own.filter((sample) => sample.name === `${name}_count`)
    const sums = own.filter((sample) => sample.name === `${name}_sum`)
    if (counts.length !== 1 || sums.length !== 1) throw new Error(`${name}${key} has no sum or no count`)
    const bounds = buckets.map(({ labels }) => (labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le)))
    if (bounds.some((bound, at) => Number.isNaN(bound) || (at > 0 && bound <= (bounds[at - 1] as number))))
      throw new Error(`the bounds of ${name}${key} do not rise`)
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY) throw new Error(`${name}${key} has no last bucket`)
    if (buckets.some(({ value }, at) => at > 0 && value < (buckets[at - 1]?.value as number)))
      throw new Error(`the buckets of ${name}${key} fall`)
    if (buckets.at(-1)?.value !== counts[0]?.value) throw new Error(`${name}${key} does not add up`)
  }
}

/** The value of one series, or undefined where there is none. */
export function sampleOf(
  families: ReadonlyMap<string, ParsedFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const family = families.get(name) ?? families.get(name.replace(/_(?:bucket|sum|count)$/, ''))
  const wanted = Object.entries(labels)
  return family?.samples.find(
    (sample) => sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value),
  )?.value
}
