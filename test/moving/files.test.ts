import { execFileSync } from 'node:child_process'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openMemory } from '../../src/engines/memory/index.ts'
import { exportJobs, importJobs } from '../../src/moving/index.ts'
import { Bench, times } from '../../src/testing/conformance/bench.ts'
import { waitsFor } from '../../src/testing/conformance/workflows/links.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { scratchFolder } from '../processes/database.ts'

const folder = scratchFolder()
afterAll(() => folder.remove())

const clock = new ManualClock()
let lines: readonly string[] = []

function queue() {
  return new Bench(openMemory({ clock }), clock)
}

beforeAll(async () => {
  const bench = queue()
  await bench.send(...times(5, (index) => ({ payload: `${index}` })))
  const path = folder.file('sound.jsonl')
  await exportJobs({ from: bench.backend, to: path })
  lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
})

let files = 0
function written(changed: readonly string[], end = '\n'): string {
  const path = folder.file(`${++files}.jsonl`)
  writeFileSync(path, changed.join('\n') + end)
  return path
}

/** With another text in the place of a line. */
function withLine(line: number, text: string): readonly string[] {
  return lines.map((each, index) => (index === line - 1 ? text : each))
}

function withErrors(errors: string): string {
  return lines[3]!.replace('"errors":[]', `"errors":[{"message":${errors}}]`)
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}

/** Filled up with zeros, which take no space on the disk. */
function padded(path: string, bytes: number): string {
  truncateSync(path, bytes)
  return path
}

test('a pipe, which cannot be read twice, and a folder are refused before anything waits for them', async () => {
  const pipe = folder.file('pipe')
  execFileSync('mkfifo', [pipe])
  const to = queue().backend
  await expect(importJobs({ from: pipe, to })).rejects.toThrow(`${pipe} is a pipe, not a file`)
  await expect(importJobs({ from: folder.path, to })).rejects.toThrow(`${folder.path} is a folder, not a file`)
})

describe('a file that is not as it was written is refused, with the number of the line', () => {
  const last = () => lines.length
  const broken: Readonly<Record<string, () => readonly [path: string, line: number, why: RegExp]>> = {
    'a cut line': () => [written(withLine(4, lines[3]!.slice(0, 60))), 4, /not JSON, or is truncated/],
    garbage: () => [written(withLine(3, '\u0000\u0001 no json')), 3, /not JSON/],
    'something else that is JSON': () => [written(withLine(3, '{"other":1}')), 3, /not one of job, workflow/],
    'a name that every object has': () => [written(withLine(3, '{"__proto__":1}')), 3, /not one of job, workflow/],
    'the name of a method': () => [written(withLine(3, '{"constructor":{}}')), 3, /not one of job, workflow/],
    'a job without an id': () => [written(withLine(4, '{"job":{}}')), 4, /job\.id is missing or wrong/],
    'a job that runs': () => [written(withLine(4, lines[3]!.replace('"ready"', '"running"'))), 4, /job\.state/],
    'a name of half a character': () => [
      written(withLine(4, lines[3]!.replace('"queue":"', '"queue":"\\ud800'))),
      4,
      /job\.queue/,
    ],
    'a key with a character that cannot be stored': () => [
      written(withLine(3, '{"fact":{"kind":"once","key":"a\\u0000","until":1,"result":null,"seal":null}}')),
      3,
      /fact\.key/,
    ],
    'a queue that nothing can name': () => [
      written(withLine(3, `{"paused":"${'q'.repeat(1_025)}"}`)),
      3,
      /a queue must be a name/,
    ],
    'a newer version': () => [written(withLine(1, lines[0]!.replace('"version":1', '"version":2'))), 1, /version 2/],
    'no export at all': () => [written(['{"id":1}']), 1, /not the first line of an export/],
    'an empty file': () => [written([], ''), 1, /empty/],
    'a job that stands there twice': () => [
      written([...lines.slice(0, 4), lines[3]!, ...lines.slice(4)]),
      5,
      /is in the file twice/,
    ],
    'a line that is missing': () => [written(lines.filter((_, index) => index !== 3)), last() - 1, /there should be 5 jobs/],
    'an end that is missing': () => [written(lines.slice(0, -1)), last() - 1, /without its last line/],
    'a last line without its line feed': () => [written(lines, ''), last(), /no line feed/],
    'data that is too deep to be written as JSON again': () => [
      written(withLine(4, withErrors(nested(100_000)))),
      4,
      /nested deeper/,
    ],
    'a line without an end': () => [padded(written([lines[0]!]), 300 * 1024 * 1024), 2, /longer than 268435456 bytes/],
    'something behind the end': () => [written([...lines, lines[3]!]), last() + 1, /after the last one/],
  }

  test.for(Object.entries(broken))('%s', async ([, make]) => {
    const [path, line, why] = make()
    const target = queue()
    const importing = importJobs({ from: path, to: target.backend })
    await expect(importing).rejects.toMatchObject({ code: 'IMPORT_INVALID', message: expect.stringMatching(why) })
    await expect(importing).rejects.toThrow(new RegExp(`^Line ${line}: `))
    expect(await target.store.list({ limit: 9 })).toEqual([])
  })
})

test('a file is imported once, also when its jobs have ended', async () => {
  const target = queue()
  const path = written(lines)
  expect(await importJobs({ from: path, to: target.backend })).toMatchObject({ jobs: 5, refused: [], isComplete: true })
  await target.settle(...(await target.claim()).map((lease) => target.done(lease)))
  expect(await importJobs({ from: path, to: target.backend })).toMatchObject({ jobs: 5, refused: [] })
  await target.assertNothingClaimable()
})

test('a workflow of more jobs than are read at once is in the file once', async () => {
  const [bench, target] = [queue(), queue()]
  const ids = times(1_200, () => bench.newId())
  await bench.send(...ids.map((id) => ({ id, links: waitsFor([], 'fail', { root: 'batch' }) })))
  const path = folder.file('workflow.jsonl')
  expect(await exportJobs({ from: bench.backend, to: path })).toMatchObject({ jobs: 1_200, leftOut: 0, isComplete: true })
  expect(await importJobs({ from: path, to: target.backend })).toMatchObject({ jobs: 1_200, refused: [], isComplete: true })
})

test('jobs that the target has already are told with their lines', async () => {
  const target = queue()
  const job = JSON.parse(lines[3]!).job
  await target.backend.send([{ ...job, uniqueKey: null, links: null }])
  const report = await importJobs({ from: written(lines), to: target.backend })
  expect(report).toMatchObject({ jobs: 4, refusedJobs: 1, refused: [{ id: job.id, line: 4 }] })
})

describe('an export that takes jobs out of the queue', () => {
  test('goes on with its file after it was interrupted, and then each job is in it once', async () => {
    const bench = queue()
    await bench.send(...times(1_200, () => ({})))
    const path = folder.file('interrupted.jsonl')
    const stop = new AbortController()
    const onProgress = () => stop.abort()
    const first = await exportJobs({ from: bench.backend, to: path, remove: true, signal: stop.signal, onProgress })
    expect(first.isComplete).toBe(false)
    await expect(importJobs({ from: path, to: queue().backend })).rejects.toThrow(/was interrupted/)
    // As if it had been killed while it wrote.
    writeFileSync(path, '{"job":{"id":"cut', { flag: 'a' })
    expect(await exportJobs({ from: bench.backend, to: path, remove: true })).toMatchObject({ jobs: 1_200, isComplete: true })
    const target = queue()
    expect(await importJobs({ from: path, to: target.backend })).toMatchObject({ jobs: 1_200 })
    expect(await bench.store.list({ limit: 1 })).toEqual([])
  })

  test('does not touch a file that is complete, nor one that is no export', async () => {
    const [complete, other] = [written(lines), written(['hello'])]
    const from = queue().backend
    await expect(exportJobs({ from, to: complete, remove: true })).rejects.toThrow(/complete/)
    await expect(exportJobs({ from, to: other, remove: true })).rejects.toMatchObject({ code: 'IMPORT_INVALID' })
    await expect(exportJobs({ from, to: complete })).rejects.toThrow(/already/)
    expect(readFileSync(other, 'utf8')).toBe('hello\n')
  })
})

test('an export holds no character that a terminal would act on, and is read as what it was', async () => {
  const evil = '\u009b2J\u202eabc\u2028'
  const bench = queue()
  await bench.send({ payload: JSON.stringify(evil) })
  const path = folder.file('evil.jsonl')
  await exportJobs({ from: bench.backend, to: path })
  expect(readFileSync(path, 'utf8')).not.toMatch(/[\u007f-\u009f\u202e\u2028]/)
  const other = queue()
  await importJobs({ from: path, to: other.backend })
  const [job] = await other.backend.store!.list({ limit: 10 })
  expect(JSON.parse(job!.payload)).toBe(evil)
})
