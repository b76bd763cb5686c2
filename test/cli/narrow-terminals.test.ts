import { expect, test } from 'vitest'
import { historyOf, historyText } from '../../src/cli/output/jobs/history.ts'
import { jobDetails } from '../../src/cli/output/jobs/job-details.ts'
import { Output } from '../../src/cli/output/output.ts'
import { displayWidth, folded } from '../../src/cli/output/text.ts'
import type { JobRecord } from '../../src/queue/contract/store.ts'

const at = Date.parse('2026-11-17T12:00:00Z')
const minuteMs = 60_000

test.each([40, 60, 80, 200])('the charts of a history and their words fit into %i columns', (columns) => {
  const records = Array.from({ length: 30 }, (_, each) =>
    endedAt(at - each * 50 * minuteMs, each % 3 === 0 ? 'dead' : 'succeeded'),
  )
  const stream = { isTTY: true, columns, write: () => true }
  const out = new Output({ json: false, colour: false, stdout: stream, stderr: stream })
  const lines = historyText(historyOf('send-email', records, 0, 500), out, at).split('\n')
  expect(lines.filter((line) => displayWidth(line) > columns)).toEqual([])
  expect(lines.join('\n')).toMatch(/last 24 h,\s+by hour,\s+at most \d/)
  expect(lines.join('\n')).toMatch(/p50 2s,\s+p95 2s,\s+longest 2s/)
})

test.each([40, 60, 80])('everything about a job fits into %i columns, and nothing of it is lost', (columns) => {
  const written: string[] = []
  const stream = { isTTY: true, columns, write: (text: string) => written.push(text) }
  const out = new Output({ json: false, colour: true, stdout: stream, stderr: stream })
  const job = {
    ...endedAt(at - minuteMs, 'dead'),
    ...{
      job: 'charge-a-customer-with-a-long-name',
      name: 'Charge',
      queue: 'mail',
      priority: 5,
      tags: ['customer 7'],
      group: null,
    },
    ...{ rescues: 0, owner: null, leaseExpiresAt: null, schedule: null, parent: null, uniqueKey: null, idempotencyKey: null },
    ...{ progress: null, meta: {}, result: null, maxRetries: 1, payload: JSON.stringify({ text: `short ${'x'.repeat(100)}` }) },
    errors: [
      { attempt: 1, at, message: 'declined', stack: `Error: declined\n    at ${'folder/'.repeat(12)}file.ts:1:2`, code: null },
    ],
  }
  const text = jobDetails({ job: job as never, links: [], tree: null, log: { lines: [], last: 0, dropped: 0 } }, out, at)
  out.line(text)
  const shown = written.join('').replaceAll(/\p{Cc}\[[0-9;]*m/gu, '')
  expect(shown.split('\n').filter((line) => displayWidth(line) > columns)).toEqual([])
  const withoutSpaces = (some: string) => some.replaceAll(/\p{Cc}\[[0-9;]*m|\s/gu, '')
  expect(withoutSpaces(shown)).toBe(withoutSpaces(text))
})

test('a value that is folded stays below its beginning where there is room', () => {
  expect(folded('  created      2026-11-20 00:28:37 (31s ago)', 40)).toBe(
    '  created      2026-11-20 00:28:37 (31s\n               ago)',
  )
  expect(folded('    a line that is indented and too long', 20)).toBe('    a line that is\n      indented and\n      too long')
  expect(folded('as it is', Number.POSITIVE_INFINITY)).toBe('as it is')
})

function endedAt(finishedAt: number, state: 'dead' | 'succeeded'): JobRecord {
  const startedAt = finishedAt - 2_000
  const id = `0192f3a1-0000-7000-8000-${String(finishedAt).slice(-12).padStart(12, '0')}`
  return { id, state, startedAt, finishedAt, runAt: startedAt, createdAt: startedAt, attempts: 1 } as JobRecord
}
