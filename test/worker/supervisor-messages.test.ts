import { describe, expect, test } from 'vitest'
import { emptyTally } from '../../src/worker/runs/report.ts'
import type { ChildMessage } from '../../src/worker/supervisor/messages.ts'
import { parseChildMessage, parseChildOrder } from '../../src/worker/supervisor/parsing.ts'

describe('what a worker process says to the one that watches over it', () => {
  const messages: readonly ChildMessage[] = [
    { kind: 'ready', owner: 'host:1' },
    { kind: 'usage', jobs: 3, rssBytes: 1_000 },
    { kind: 'abandoned' },
    { kind: 'failed', code: 'CONFIG_INVALID', message: 'no' },
    { kind: 'report', report: emptyTally() },
  ]
  test.each(messages)('is read as it was said: $kind', (message) => {
    expect(parseChildMessage(message)).toEqual(message)
  })

  const garbage = [
    null,
    undefined,
    7,
    'ready',
    [],
    {},
    { kind: 'constructor' },
    { kind: 'ready' },
    { kind: 'ready', owner: 7 },
    { kind: 'usage', jobs: Number.NaN, rssBytes: 1 },
    { kind: 'report', report: null },
    { kind: 'report', report: { succeeded: 1 } },
    { kind: 'failed', code: 'x' },
  ]
  test.each(garbage)('is nothing where a handler sent it: %j', (value) => {
    expect(parseChildMessage(value)).toBeUndefined()
    expect(parseChildOrder(value)).toBeUndefined()
  })
})
