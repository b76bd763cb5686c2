import { describe, expect, it } from 'vitest'
import { jobDetails } from '../../src/cli/output/jobs/job-details.ts'
import { jobTable } from '../../src/cli/output/jobs/jobs.ts'
import { Output } from '../../src/cli/output/output.ts'
import { type Column, tableText } from '../../src/cli/output/table.ts'
import { displayWidth, visible, visibleLine, wrapped } from '../../src/cli/output/text.ts'
import { localTime, relativeTime, roughly, zonedTime } from '../../src/cli/output/time.ts'
import type { JobRecord } from '../../src/queue/contract/store.ts'

interface Row {
  readonly id: string
  readonly name: string
  readonly note: string
}

const columns: readonly Column<Row>[] = [
  { head: 'ID', cell: ({ id }) => id, whole: true },
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'NOTE', cell: ({ note }) => note },
]
const plain = (text: string) => text
const id = '01900000-0000-7000-8000-000000000000'

function capture(options: { json?: boolean; tty?: boolean; colour?: boolean; columns?: number }) {
  const written = { out: '', err: '' }
  const stream = (name: 'out' | 'err') => ({
    write: (text: string) => {
      written[name] += text
    },
    isTTY: options.tty ?? false,
    columns: options.columns ?? 100,
  })
  const { json = false, colour = true } = options
  return { written, out: new Output({ json, colour, stdout: stream('out'), stderr: stream('err') }) }
}

describe('a table', () => {
  it('takes the room that its cells need', () => {
    const text = tableText(columns, [{ id: '1', name: 'send-email', note: 'ok' }], Number.POSITIVE_INFINITY, plain)
    expect(text).toBe('ID  NAME        NOTE\n1   send-email  ok')
  })

  it('is never wider than the terminal, and never cuts an id', () => {
    const rows = [{ id, name: 'a-rather-long-name-of-a-job', note: 'and an error message that goes on and on'.repeat(20) }]
    for (const width of [120, 80, 60, 50, 40, 36]) {
      const lines = tableText(columns, rows, width, plain).split('\n')
      expect(lines.length).toBe(2)
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width)
      expect(lines[1]).toContain(id)
    }
  })

  it('loses the columns of the highest rank first, and keeps its order', () => {
    const ranked = [
      { ...columns[0], rank: 1 },
      { ...columns[1], rank: 2 },
      { ...columns[2], rank: 0, whole: true },
    ] as Column<Row>[]
    const rows = [{ id: '12345678', name: 'send-email', note: 'dead' }]
    expect(tableText(ranked, rows, 18, plain)).toBe('ID        NOTE\n12345678  dead')
    expect(tableText(ranked, rows, 11, plain)).toBe('NOTE\ndead')
  })

  it('leaves out a column that would be narrower than it is of use', () => {
    const useful = columns.map((column) => ({ ...column, least: 9 }))
    const rows = [{ id: '1', name: 'send-email', note: 'a long remark' }]
    expect(tableText(useful, rows, 24, plain)).toBe('ID  NAME       NOTE\n1   send-ema…  a long r…')
    expect(tableText(useful, rows, 21, plain)).toBe('ID  NAME\n1   send-email')
  })

  it('of jobs shows what state they are in, also where there is little room', () => {
    const job = { id, job: 'send-email', state: 'succeeded', queue: 'mail', attempts: 1, maxRetries: 0 } as JobRecord
    const { out } = capture({ tty: true, colour: false, columns: 50 })
    expect(jobTable([{ ...job, errors: [] }], out, 0)).toBe(
      `${'ID'.padEnd(27)}  JOB         STATE\n${id.slice(0, 26)}…  send-email  succeeded`,
    )
  })

  it('of jobs cuts the id only when nothing but name and state is left beside it', () => {
    const job = { id, job: 'send-email', state: 'succeeded', queue: 'mail', attempts: 1, maxRetries: 0 } as JobRecord
    const lines = (columns: number) =>
      jobTable([{ ...job, errors: [] }], capture({ tty: true, colour: false, columns }).out, 0).split('\n')
    expect(lines(60)[1]).toContain(id)
    expect(lines(40)[1]).toMatch(/^01900000-\S+… {2}send-email {2}succeeded$/)
    expect(lines(24)[1]).toMatch(/^0190\S*… {2}succeeded$/)
  })

  it('counts wide characters as the terminal does', () => {
    const rows = [{ id: '1', name: '日本語のジョブ', note: 'x' }]
    expect(tableText(columns, rows, Number.POSITIVE_INFINITY, plain)).toBe('ID  NAME            NOTE\n1   日本語のジョブ  x')
    for (const line of tableText(columns, rows, 16, plain).split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(16)
  })

  it('keeps each row on one line and sends no control characters to the terminal', () => {
    const rows = [{ id: '1', name: 'two\nlines', note: '\u001b[31mred\u0007' }]
    expect(tableText(columns, rows, Number.POSITIVE_INFINITY, plain)).toBe('ID  NAME       NOTE\n1   two lines  ␛[31mred␇')
  })
})

describe('the details of a job', () => {
  it('keep each value on one line, so that no value can pass for another one', () => {
    const shown = {
      id,
      job: 'send-email',
      state: 'dead',
      queue: 'mail',
      payload: 'null',
      result: null,
      progress: null,
      schedule: null,
      parent: null,
      meta: {},
      startedAt: null,
      finishedAt: null,
      leaseExpiresAt: null,
    }
    const forged = 'x\n  state        succeeded'
    const error = { attempt: 1, at: 0, code: forged, message: 'm', stack: null }
    const texts = { name: forged, group: forged, uniqueKey: forged, idempotencyKey: forged, owner: forged, reason: forged }
    const job = { ...shown, ...texts, tags: [forged], errors: [error] } as unknown as JobRecord
    const log = { lines: [], dropped: 0, last: 0 }
    const text = jobDetails({ job, links: [], tree: null, log }, capture({}).out, 0)
    expect(text.match(/^ *state/gm)).toHaveLength(1)
    expect(text).toContain('x state        succeeded')
  })
})

describe('text', () => {
  it('shows control characters and keeps line breaks', () => {
    expect(visible('a\u0000b\u009bc\nd\te\u007f')).toBe('a␀b\ufffdc\nd\te␡')
    expect(visibleLine('a\n  b\tc')).toBe('a b c')
  })
})

describe('a long text', () => {
  it('is wrapped at words, and indented after its first line', () => {
    expect(wrapped('one two three four', 9, '  ')).toBe('one two\n  three\n  four')
    expect(wrapped('one two three', 7)).toBe('one two\nthree')
    expect(wrapped('one two three', 6)).toBe('one\ntwo\nthree')
    expect(wrapped('one two three four', Number.POSITIVE_INFINITY)).toBe('one two three four')
  })

  it('keeps a word that is wider than the terminal', () => {
    expect(wrapped('a incomprehensible b', 6)).toBe('a\nincomprehensible\nb')
  })
})

describe('times', () => {
  const now = new Date(2026, 5, 10, 9, 0, 0).getTime()

  it('are local', () => {
    expect(localTime(now)).toBe('2026-06-10 09:00:00')
  })

  it('of schedules are those of their zone, with its offset', () => {
    expect(zonedTime(Date.UTC(2026, 10, 16, 1, 30), 'Europe/Paris')).toBe('2026-11-16 02:30:00 +01:00')
  })

  it('are told from now', () => {
    expect(relativeTime(now, now)).toBe('now')
    expect(relativeTime(now - 90_500, now)).toBe('1m30s ago')
    expect(relativeTime(now + 2 * 3_600_000, now)).toBe('in 2h')
  })

  it('lose what nobody needs to know', () => {
    expect(roughly(12)).toBe('12ms')
    expect(roughly(3_600_000 + 61_000)).toBe('1h1m')
    expect(roughly(86_400_000 + 3_600_000 + 60_000)).toBe('1d1h')
    expect(roughly(40 * 86_400_000 + 3_600_000)).toBe('40d')
  })
})

describe('output', () => {
  it('has colours on a terminal only', () => {
    expect(capture({ tty: true }).out.colours.red('x')).not.toBe('x')
    expect(capture({ tty: false }).out.colours.red('x')).toBe('x')
    expect(capture({ tty: true, colour: false }).out.colours.red('x')).toBe('x')
    expect(capture({ tty: true, json: true }).out.colours.red('x')).toBe('x')
  })

  it('answers as text or as JSON', () => {
    const text = capture({})
    text.out.answer({ a: 1 }, () => 'one')
    expect(text.written).toEqual({ out: 'one\n', err: '' })
    const json = capture({ json: true })
    json.out.answer({ a: 1 }, () => 'one')
    expect(json.written).toEqual({ out: '{"a":1}\n', err: '' })
  })

  it('shows progress to a person who watches, and takes it away before the next line', () => {
    const watched = capture({ tty: true })
    watched.out.progress('1 of 2')
    watched.out.line('done')
    expect(watched.written).toEqual({ out: 'done\n', err: '\r\u001b[2K1 of 2\r\u001b[2K' })
    const piped = capture({ tty: false })
    piped.out.progress('1 of 2')
    expect(piped.written.err).toBe('')
  })
})
