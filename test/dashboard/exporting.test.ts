import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../dist/index.js'
import { type DashboardViewer, dashboard } from '../../dist/server/dashboard/index.js'

const large = '9007199254740993123'

/** A dashboard of a queue with two jobs that have ended, one of them with a text that spreadsheets would run. */
async function exporting() {
  const jobs = treadle('memory:', { signingKey: 'a-key-for-the-test-of-exports-only' })
  let authorize: () => DashboardViewer | null = () => ({ role: 'read' })
  const shown = dashboard(jobs, { authorize: () => authorize(), redact: ['iban'] })
  onTestFinished(async () => {
    await shown.close()
    await jobs.close()
  })
  const mail = jobs.define('mail', async () => ({ accepted: true, token: 'hidden' })).queue('mail')
  const charge = jobs.define('charge', async () => {
    throw new Error('=cmd|"/c calc"!A0\nand, more')
  })
  await mail.dispatch({ to: 'ada', iban: 'DE00' }, { tags: ['a', 'b'] })
  await mail.dispatch({ secretly: 'nobody reads this' }, { encrypt: true })
  await charge.dispatch({ n: 1 })
  await jobs.run()
  const ask = (query: Readonly<Record<string, string>>) =>
    shown.fetch(
      new Request(`http://localhost/-/export?${new URLSearchParams(query)}`, { headers: { 'sec-fetch-site': 'same-origin' } }),
    )
  const lines = async (q: string) => {
    const answer = await ask({ q, format: 'jsonl' })
    expect(answer.status).toBe(200)
    const text = await answer.text()
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }
  return { jobs, shown, ask, lines, become: (other: typeof authorize) => (authorize = other) }
}

test('a list is exported as JSON lines, with the same filter, and nothing that is hidden', async () => {
  const { ask, lines } = await exporting()
  const all = await lines('')
  expect(all.map(({ job, state }) => [job, state])).toEqual([
    ['charge', 'dead'],
    ['mail', 'succeeded'],
    ['mail', 'succeeded'],
  ])
  expect(await lines('job:charge')).toHaveLength(1)
  expect(all[2]).toMatchObject({ payload: { to: 'ada', iban: '•••• redacted' }, tags: ['a', 'b'], attempts: 1 })
  expect(all[2].result).toEqual({ accepted: true, token: '•••• redacted' })
  expect(all[1].payload).toBeNull()
  expect(all[0].finishedAt).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
  const { headers } = await ask({ q: '', format: 'jsonl' })
  expect(headers.get('content-disposition')).toBe('attachment; filename="jobs.jsonl"')
  expect(headers.get('cache-control')).toBe('no-store')
})

test('numbers keep all their digits', async () => {
  const { jobs, ask } = await exporting()
  await jobs.dispatch(jobs.declare('exact'), JSON.parse(`{"n":1}`))
  const store = await jobs.store()
  const [record] = await store.list({ job: 'exact', limit: 1 })
  expect(record?.payload).toBe('{"n":1}')
  const { exportedOf, lineOf } = await import('../../src/server/dashboard/views/jobs/exported-job.ts')
  const { Redaction } = await import('../../src/server/dashboard/views/jobs/redaction.ts')
  if (record === undefined) throw new Error('The job is missing')
  const line = lineOf(exportedOf({ ...record, payload: `{ "n": ${large},\n"t":"a\\nb" }` }, new Redaction()), 'jsonl')
  expect(line).toContain(`"payload":{"n":${large},"t":"a\\nb"}`)
  expect(line.split('\n')).toHaveLength(2)
  expect((await ask({ q: 'job:exact', format: 'jsonl' })).status).toBe(200)
})

test('CSV has one record per job, and no cell that a spreadsheet would run', async () => {
  const { ask } = await exporting()
  const answer = await ask({ q: '', format: 'csv' })
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const records = recordsOf(await answer.text())
  const [heading = []] = records
  expect(heading.slice(0, 4)).toEqual(['id', 'job', 'queue', 'state'])
  expect(records.map(({ length }) => length)).toEqual(records.map(() => heading.length))
  const cell = (row: number, name: string) => records[row]?.[heading.indexOf(name)]
  expect(cell(1, 'lastError')).toBe(`'=cmd|"/c calc"!A0\nand, more`)
  expect(cell(3, 'tags')).toBe('["a","b"]')
  expect(cell(3, 'group')).toBe('')
})

test('a limited viewer exports only what the list shows', async () => {
  const { lines, become } = await exporting()
  become(() => ({ role: 'read', queues: ['mail'] }))
  expect((await lines('')).map(({ queue }) => queue)).toEqual(['mail', 'mail'])
  expect(await lines('charge')).toEqual([])
})

test.each([
  [{ q: '', format: 'xml' }, 400, 'format must be one of csv, jsonl'],
  [{ q: 'stat:dead', format: 'csv' }, 400, 'Did you mean "state"'],
])('%j is refused before anything is sent', async (query, status, detail) => {
  const { ask } = await exporting()
  const answer = await ask(query)
  expect(answer.status).toBe(status)
  expect(((await answer.json()) as { readonly detail: string }).detail).toContain(detail)
})

test('a long list arrives whole, and an export that fails on the way is broken off', async () => {
  const { jobs, shown, become } = await exporting()
  await jobs.dispatchMany(
    jobs.declare('many'),
    Array.from({ length: 2_500 }, (_, n) => n),
  )
  let looks = 0
  const server = createServer(shown.node).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/-/export?q=job:many&format=jsonl`
  const whole = await (await fetch(url)).text()
  expect(whole.split('\n')).toHaveLength(2_501)
  expect(new Set(whole.split('\n')).size).toBe(2_501)
  const store = await jobs.store()
  const { list } = store
  onTestFinished(() => void Object.assign(store, { list }))
  become(() => {
    looks++
    return { role: 'read' }
  })
  Object.assign(store, {
    list: (filter: Parameters<typeof list>[0]) =>
      filter.before === undefined ? list.call(store, filter) : Promise.reject(new Error('The database has gone')),
  })
  const broken = await fetch(url)
  expect(broken.status).toBe(200)
  await expect(broken.text()).rejects.toThrow()
  expect(looks).toBe(1)
})

function recordsOf(text: string): readonly (readonly string[])[] {
  const records: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    if (end === '\r\n') records.push([])
  }
  return records.slice(0, -1)
}
