export type Range = '1h' | '1d' | '7d'

export interface SeriesPoint {
  readonly at: number
  readonly done: number
  readonly retried: number
  readonly dead: number
  readonly other: number
  readonly wait: Percentiles | null
  readonly run: Percentiles | null
}

export type Percentiles = readonly [p50: number, p95: number, p99: number]

/** Each point covers the `stepMs` that start at its instant. */
export interface SeriesView {
  readonly stepMs: number
  /** False if the engine keeps no statistics; all points are empty then. */
  readonly isKept: boolean
  readonly points: readonly SeriesPoint[]
}
