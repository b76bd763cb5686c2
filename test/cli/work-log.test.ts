import { expect, it } from 'vitest'
import { Output } from '../../src/cli/output/output.ts'
import { eventJson, eventLine } from '../../src/cli/output/workers/work-log.ts'

const stream = { write: () => {}, isTTY: false }
const { colours } = new Output({ json: false, colour: false, stdout: stream, stderr: stream })

it('a job that fails is logged with what caused its error', () => {
  const error = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:80') })
  const event = { id: 'ID', job: 'mail', name: 'mail', attempt: 1, queue: 'default', error, retryInMs: 10_000 }
  const whole = 'fetch failed: connect ECONNREFUSED 127.0.0.1:80'
  expect(eventLine('job:failed', event, colours)).toContain(whole)
  expect(JSON.parse(eventJson('job:failed', event, 0))).toMatchObject({ error: { message: whole } })
})
