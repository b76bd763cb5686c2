import type { Histogram } from './histogram.ts'

/** The media type of the text format, which all versions of Prometheus and other collectors can read. */
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8'

export type Labels = Readonly<Record<string, string>>

/** One metric with all its series at one moment. */
export type Family = { readonly name: string; readonly help: string } & (
  | { readonly type: 'counter' | 'gauge'; readonly samples: readonly Sample[] }
  | { readonly type: 'histogram'; readonly samples: readonly HistogramSample[] }
)

export interface Sample {
  readonly labels: Labels
  readonly value: number
}

export interface HistogramSample {
  readonly labels: Labels
  readonly histogram: Histogram
}

/** The Prometheus text format: each family with its help and type before its samples. Families without samples are left out. */
export function exposition(families: readonly Family[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map((family) => [
      `# HELP ${family.name} ${escaped(family.help)}`,
      `# TYPE ${family.name} ${family.type}`,
      ...linesOf(family),
    ])
    .map((lines) => `${lines.join('\n')}\n`)
    .join('')
}

function linesOf(family: Family): readonly string[] {
  if (family.type !== 'histogram')
    return family.samples.map(({ labels, value }) => `${family.name}${labelText(labels)} ${numberText(value)}`)
  return family.samples.flatMap((sample) => histogramLines(family.name, sample))
}

function histogramLines(name: string, { labels, histogram }: HistogramSample): readonly string[] {
  const { bounds, counts, sum } = histogram
  let below = 0
  const buckets = Array.from(counts, (count, slot) => {
    below += count
    return `${name}_bucket${labelText({ ...labels, le: numberText(bounds[slot] ?? Number.POSITIVE_INFINITY) })} ${below}`
  })
  return [...buckets, `${name}_sum${labelText(labels)} ${numberText(sum)}`, `${name}_count${labelText(labels)} ${below}`]
}

function labelText(labels: Labels): string {
  const entries = Object.entries(labels)
  if (entries.length === 0) return ''
  return `{${entries.map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`).join(',')}}`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}
