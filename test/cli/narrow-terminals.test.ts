import { expect, test } from 'vitest'
import { historyOf, historyText } from '../../src/cli/output/jobs/history.ts'
import { Output } from '../../src/cli/output/output.ts'
import { displayWidth } from '../../src/cli/output/text.ts'
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

function endedAt(finishedAt: number, state: 'dead' | 'succeeded'): JobRecord {
  const startedAt = finishedAt - 2_000
  const id = `0192f3a1-0000-7000-8000-${String(finishedAt).slice(-12).padStart(12, '0')}`
  return { id, state, startedAt, finishedAt, runAt: startedAt, createdAt: startedAt, attempts: 1 } as JobRecord
}
