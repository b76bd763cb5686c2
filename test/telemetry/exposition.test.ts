import { describe, expect, test } from 'vitest'
import { exposition } from '../../src/telemetry/metrics/exposition.ts'
import { Histogram } from '../../src/telemetry/metrics/histogram.ts'
import { parseExposition, sampleOf } from './exposition-parser.ts'

describe('the text that Prometheus reads', () => {
  test('names with every sign that could break it come back as they were', () => {
    const job = 'a "quoted" \\ back\nslash, {braces} é 日本 \u202e'
    const text = exposition([
      { name: 'jobs_total', help: 'two\nlines \\ here', type: 'counter', samples: [{ labels: { job }, value: 3 }] },
    ])
    expect(text.split('\n')).toHaveLength(4)
    const families = parseExposition(text)
    expect(families.get('jobs_total')?.samples).toEqual([{ name: 'jobs_total', labels: { job }, value: 3 }])
  })

  test('a histogram counts what lies below each bound, and everything in the last one', () => {
    const histogram = new Histogram([0.1, 1])
    for (const value of [0.05, 0.1, 0.5, 7]) histogram.add(value)
    const families = parseExposition(
      exposition([{ name: 'seconds', help: 'Time.', type: 'histogram', samples: [{ labels: {}, histogram }] }]),
    )
    const buckets = ['0.1', '1', '+Inf'].map((le) => sampleOf(families, 'seconds_bucket', { le }))
    expect(buckets).toEqual([2, 3, 4])
    expect(sampleOf(families, 'seconds_count')).toBe(4)
    expect(sampleOf(families, 'seconds_sum')).toBeCloseTo(7.65)
  })

  test('a family without samples is left out, and nothing at all is the empty text', () => {
    expect(exposition([{ name: 'none', help: 'Nothing.', type: 'gauge', samples: [] }])).toBe('')
  })

  test('numbers of any size are written as the format knows them', () => {
    const values = [0, 1e21, 1e-7, 12.5, Number.POSITIVE_INFINITY]
    const samples = values.map((value, at) => ({ labels: { at: String(at) }, value }))
    const families = parseExposition(exposition([{ name: 'x', help: 'Any.', type: 'gauge', samples }]))
    expect(families.get('x')?.samples.map(({ value }) => value)).toEqual(values)
  })

  test.each([
    ['a sample before its type', 'x 1\n'],
    ['a series twice', '# HELP x h\n# TYPE x gauge\nx{a="1"} 1\nx{a="1"} 2\n'],
    ['a bare line end in a label', '# HELP x h\n# TYPE x gauge\nx{a="1\n"} 1\n'],
    ['a family in two pieces', '# HELP x h\n# TYPE x gauge\nx 1\n# HELP x h\n# TYPE x gauge\nx{a="1"} 1\n'],
    ['no end of the last line', '# HELP x h\n# TYPE x gauge\nx 1'],
    ['a value that is no number', '# HELP x h\n# TYPE x gauge\nx undefined\n'],
    ['a histogram whose count is another', '# HELP x h\n# TYPE x histogram\nx_bucket{le="+Inf"} 2\nx_sum 1\nx_count 3\n'],
  ])('the reader of these tests refuses %s', (_, text) => {
    expect(() => parseExposition(text)).toThrow()
  })
})
