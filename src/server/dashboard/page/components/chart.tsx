import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { SeriesPoint, SeriesView } from '../../shared/views/series.ts'
import { clock, count, date, duration, exact } from '../format.ts'

interface Line {
  readonly name: string
  readonly of: (point: SeriesPoint) => number | null
}

const stacked: readonly Line[] = [
  { name: 'done', of: ({ done }) => done },
  { name: 'retried', of: ({ retried }) => retried },
  { name: 'dead', of: ({ dead }) => dead },
  { name: 'other', of: ({ other }) => other },
]

const height = 168
const left = 54
const bottom = 20
const top = 8

/** The width of the container, measured once and whenever it changes. */
function useWidth() {
  const place = useRef<HTMLDivElement>(null)
  const width = useSignal(600)
  // Before the first paint: a chart that is briefly too wide would shift the page.
  useLayoutEffect(() => {
    if (place.current === null) return undefined
    const take = (given: number) => {
      width.value = Math.max(220, Math.floor(given))
    }
    take(place.current.clientWidth)
    const observer = new ResizeObserver(([entry]) => take(entry?.contentRect.width ?? 600))
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  return { place, width: width.value }
}

export function ThroughputChart({ series }: { readonly series: SeriesView }) {
  const { place, width } = useWidth()
  const over = useSignal<number | null>(null)
  const { points, stepMs } = series
  const sums = points.map((point) => stacked.reduce((sum, { of }) => sum + (of(point) ?? 0), 0))
  const most = niceTop(Math.max(1, ...sums))
  const step = (width - left) / points.length
  const y = (value: number) => top + (height - top - bottom) * (1 - value / most)
  const at = over.value
  return (
    <figure class="chart" ref={place}>
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={summary(series)}
        onPointerMove={(event) => {
          over.value = indexAt(event, step, points.length)
        }}
        onPointerLeave={() => {
          over.value = null
        }}
      >
        <Grid most={most} width={width} y={y} format={count} />
        {points.map((point, index) => {
          let base = 0
          return stacked.map(({ name, of }) => {
            const value = of(point) ?? 0
            if (value === 0) return null
            const rect = (
              <rect
                key={name}
                class={`bar-${name}`}
                x={left + index * step + 0.5}
                width={Math.max(1, step - 1)}
                y={y(base + value)}
                height={y(base) - y(base + value)}
              />
            )
            base += value
            return rect
          })
        })}
        <Times series={series} width={width} />
        {at !== null && (
          <line class="cursor" x1={left + (at + 0.5) * step} x2={left + (at + 0.5) * step} y1={top} y2={height - bottom} />
        )}
      </svg>
      <figcaption class="legend">
        {at === null || points[at] === undefined
          ? stacked.map(({ name }) => (
              <span key={name} class={`key key-${name}`}>
                {name}
              </span>
            ))
          : [
              <b key="at">{clock(points[at].at, false)}</b>,
              ...stacked.map(({ name, of }) => (
                <span key={name} class={`key key-${name}`}>
                  {name} {count(of(points[at] as SeriesPoint) ?? 0)}
                </span>
              )),
            ]}
        <span class="muted">per {stepMs === 60_000 ? 'minute' : stepMs === 3_600_000 ? 'hour' : duration(stepMs)}</span>
      </figcaption>
      <Table
        points={points.filter(({ done, retried, dead, other }) => done + retried + dead + other > 0)}
        columns={[
          ...stacked.map(({ name, of }) => [name, (point: SeriesPoint) => exact(of(point) ?? 0)] as const),
          ['wait p95', ({ wait }) => durationOf(wait?.[1])],
          ['run p95', ({ run }) => durationOf(run?.[1])],
        ]}
      />
    </figure>
  )
}

const percents = ['p50', 'p95', 'p99'] as const

/** Waiting and running times on a logarithmic scale, because one is often a thousand times the other. */
export function TimesChart({ series, what }: { readonly series: SeriesView; readonly what: 'wait' | 'run' }) {
  const { place, width } = useWidth()
  const over = useSignal<number | null>(null)
  const { points } = series
  const values = points.flatMap((point) => point[what] ?? []).filter((value) => value > 0)
  const [low, high] = [Math.min(1, ...values), Math.max(100, ...values)]
  const [from, until] = [Math.floor(Math.log10(Math.max(0.5, low))), Math.ceil(Math.log10(high))]
  const step = (width - left) / points.length
  const y = (value: number) =>
    top + (height - top - bottom) * (1 - (Math.log10(Math.max(value, 10 ** from)) - from) / (until - from))
  const lines = Array.from({ length: until - from + 1 }, (_, power) => 10 ** (from + power))
  const at = over.value
  const shown = at === null ? null : (points[at]?.[what] ?? null)
  return (
    <figure class="chart" ref={place}>
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`${what} times: ${values.length === 0 ? 'none seen yet' : 'see the table below'}`}
        onPointerMove={(event) => {
          over.value = indexAt(event, step, points.length)
        }}
        onPointerLeave={() => {
          over.value = null
        }}
      >
        {lines.map((value) => (
          <g key={value} class="grid">
            <line x1={left} x2={width} y1={y(value)} y2={y(value)} />
            <text x={left - 6} y={y(value) + 4} text-anchor="end">
              {gridDuration(value)}
            </text>
          </g>
        ))}
        {percents.map((name, index) => (
          <path
            key={name}
            class={`line line-${name}`}
            d={pathOf(
              points.map((point) => point[what]?.[index] ?? null),
              (spot) => left + (spot + 0.5) * step,
              y,
            )}
          />
        ))}
        <Times series={series} width={width} />
        {at !== null && (
          <line class="cursor" x1={left + (at + 0.5) * step} x2={left + (at + 0.5) * step} y1={top} y2={height - bottom} />
        )}
      </svg>
      <figcaption class="legend">
        {at !== null && points[at] !== undefined && <b>{clock(points[at].at, false)}</b>}
        {percents.map((name, index) => (
          <span key={name} class={`key key-${name}`}>
            {name}
            {shown === null ? '' : ` ${duration(shown[index] as number)}`}
          </span>
        ))}
        <span class="muted">estimates</span>
      </figcaption>
      <Table
        points={points.filter((point) => point[what] !== null)}
        columns={percents.map((name, index) => [name, (point) => durationOf(point[what]?.[index])] as const)}
      />
    </figure>
  )
}

/** A power of ten, in one unit: 100 s and not 1 m 40 s. */
function gridDuration(ms: number): string {
  return ms < 1_000 ? duration(ms) : `${exact(ms / 1_000)} s`
}

/** Joins neighbouring points; an isolated point becomes a short stroke. */
function pathOf(values: readonly (number | null)[], x: (at: number) => number, y: (value: number) => number): string {
  let path = ''
  for (const [at, value] of values.entries()) {
    if (value === null) continue
    const before = values[at - 1]
    path +=
      before === null || before === undefined
        ? `M${(x(at) - 3).toFixed(1)} ${y(value).toFixed(1)}h3`
        : `L${x(at).toFixed(1)} ${y(value).toFixed(1)}`
    if (values[at + 1] == null) path += 'h3'
  }
  return path
}

function Grid({
  most,
  width,
  y,
  format,
}: {
  readonly most: number
  readonly width: number
  readonly y: (value: number) => number
  readonly format: (value: number) => string
}) {
  const lines = [0, most / 2, most]
  return (
    <>
      {lines.map((value) => (
        <g key={value} class="grid">
          <line x1={left} x2={width} y1={y(value)} y2={y(value)} />
          <text x={left - 6} y={y(value) + 4} text-anchor="end">
            {value === Math.round(value) ? format(value) : ''}
          </text>
        </g>
      ))}
    </>
  )
}

function Times({ series: { points, stepMs }, width }: { readonly series: SeriesView; readonly width: number }) {
  const marks = Math.max(2, Math.min(6, Math.floor(width / 110)))
  return (
    <>
      {Array.from({ length: marks }, (_, mark) => {
        const index = Math.round(((points.length - 1) * mark) / (marks - 1))
        const at = points[index]?.at ?? 0
        const x = left + ((width - left) * (index + 0.5)) / points.length
        const anchor = mark === 0 ? 'start' : mark === marks - 1 ? 'end' : 'middle'
        return (
          <text key={mark} class="axis" x={mark === marks - 1 ? width : x} y={height - 5} text-anchor={anchor}>
            {stepMs >= 3_600_000 ? date(at) : clock(at, false)}
          </text>
        )
      })}
    </>
  )
}

/** The same data for screen readers. */
function Table({
  points,
  columns,
}: {
  readonly points: readonly SeriesPoint[]
  readonly columns: readonly (readonly [name: string, of: (point: SeriesPoint) => string])[]
}) {
  return (
    <details class="chart-table">
      <summary>As a table</summary>
      <table>
        <thead>
          <tr>
            <th>from</th>
            {columns.map(([name]) => (
              <th key={name} class="num">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.slice(-30).map((point) => (
            <tr key={point.at}>
              <td>{date(point.at)}</td>
              {columns.map(([name, of]) => (
                <td key={name} class="num">
                  {of(point)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}

function durationOf(ms: number | undefined): string {
  return ms === undefined ? '–' : duration(ms)
}

function summary({ points }: SeriesView): string {
  const sum = (of: (point: SeriesPoint) => number) => points.reduce((total, point) => total + of(point), 0)
  return `Throughput: ${sum(({ done }) => done)} done, ${sum(({ retried }) => retried)} retried, ${sum(({ dead }) => dead)} dead`
}

function indexAt(event: PointerEvent, step: number, points: number): number | null {
  const { left: edge } = (event.currentTarget as Element).getBoundingClientRect()
  const index = Math.floor((event.clientX - edge - left) / step)
  return index >= 0 && index < points ? index : null
}

function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const found = [1, 2, 4, 6, 8, 10].find((each) => each * power >= value) ?? 10
  return Math.max(2, found * power)
}
