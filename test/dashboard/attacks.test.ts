import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { type Dashboard, type DashboardViewer, dashboard } from '../../dist/server/dashboard/index.js'
import { execute } from '../processes/database.ts'

const secret = 'nobody reads this'
const turned = 'a\u202eb\u2066c'
const base = '/admin/jobs'

/** Every change that the page can ask for. `{hidden}` is a job of another queue. */
const changes: readonly { readonly method: string; readonly to: string; readonly body?: object }[] = [
  { method: 'POST', to: '/-/api/jobs/{hidden}/retry' },
  { method: 'POST', to: '/-/api/jobs/{hidden}/cancel' },
  { method: 'PATCH', to: '/-/api/jobs/{hidden}', body: { runAt: '2031-01-01T00:00:00Z' } },
  { method: 'DELETE', to: '/-/api/jobs/{hidden}' },
  { method: 'POST', to: '/-/api/queues/billing/pause' },
  { method: 'POST', to: '/-/api/queues/billing/resume' },
  { method: 'POST', to: '/-/api/job-names/charge/pause' },
  { method: 'POST', to: '/-/api/schedules/digest/pause' },
  { method: 'POST', to: '/-/api/schedules/digest/trigger' },
  { method: 'DELETE', to: '/-/api/schedules/digest' },
  { method: 'POST', to: '/-/copy', body: { id: '{hidden}', payload: '1' } },
  { method: 'POST', to: '/-/schedule', body: { key: 'mine', job: 'charge', kind: 'cron', said: '* * * * *', payload: 'null' } },
  { method: 'POST', to: '/-/cancel-workflow', body: { root: '{hidden}' } },
]

describe('the dashboard under attack', () => {
  let jobs: Treadle
  let shown: Dashboard
  let viewer: DashboardViewer | null
  let ids: Readonly<Record<string, string>>
  const path = join(mkdtempSync(join(tmpdir(), 'treadle-attacks-')), 'jobs.db')

  beforeAll(async () => {
    jobs = treadle(`sqlite:${path}`, { signingKey: 'a-key-for-the-test-of-the-attacks-only' })
    const charge = jobs.define('charge', async () => {}).queue('billing')
    const mail = jobs.define('mail', async () => {}).queue('mail')
    jobs
      .define('digest', async () => {})
      .queue('billing')
      .dailyAt('02:30')
    const odd = jobs.define(turned, async () => {}).queue('odd')
    const hidden = await charge.dispatch({ n: 1 })
    const own = await mail.dispatch({ n: 2 })
    const closed = await mail.dispatch({ text: secret }, { encrypt: true })
    const huge = await mail.dispatch({ text: 'x' })
    const strange = await odd.dispatch({ [turned]: turned }, { group: turned, tags: ['a\u2067b'] })
    const spoilt = await mail.dispatch({ n: 3 })
    const columns = `errors = '{"not":"a list"', result = '<script>', progress = 'NaN', reason = '<b>', created_at = 'later'`
    execute(path, `UPDATE treadle_jobs SET ${columns} WHERE id = '${spoilt.id}'`)
    // More than a program may send.
    execute(path, `UPDATE treadle_jobs SET payload = '{"text":"' || hex(zeroblob(2500000)) || '"}' WHERE id = '${huge.id}'`)
    ids = { hidden: hidden.id, own: own.id, closed: closed.id, huge: huge.id, strange: strange.id, spoilt: spoilt.id }
    shown = dashboard(jobs, { basePath: base, authorize: () => viewer })
  })
  afterAll(async () => {
    await shown?.close()
    await jobs?.close()
  })

  const own = {
    'sec-fetch-site': 'same-origin',
    origin: 'http://localhost',
    'x-treadle': '1',
    'content-type': 'application/json',
  }
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => ids[name] ?? whole)
  const ask = (method: string, to: string, body?: unknown, headers: Readonly<Record<string, string>> = own) =>
    shown.fetch(
      new Request(`http://localhost${base}${filled(to)}`, {
        method,
        headers,
        ...(method !== 'GET' && method !== 'HEAD' && { body: filled(JSON.stringify(body ?? {})) }),
      }),
    )
  const stateOf = async (id: string) => (await (await jobs.store()).get(id))?.state

  test.each(changes)('$method $to is refused to those who only look', async ({ method, to, body }) => {
    for (const role of ['read', 'work'] as const) {
      viewer = { role, user: 'eve' }
      expect((await ask(method, to, body)).status, role).toBe(403)
    }
    viewer = null
    expect((await ask(method, to, body)).status).toBe(401)
  })

  test.each(changes)('$method $to is not there for those of another queue or other names', async ({ method, to, body }) => {
    for (const limits of [{ queues: ['mail'] }, { jobs: ['mail*'] }]) {
      viewer = { role: 'operate', user: 'eve', ...limits }
      expect([403, 404]).toContain((await ask(method, to, body)).status)
    }
    expect(await stateOf(ids.hidden as string)).toBe('ready')
    expect(await (await jobs.store()).paused()).toMatchObject({ queues: [], jobs: [] })
  })

  test.each(changes)('$method $to is refused to pages of others', async ({ method, to, body }) => {
    viewer = { role: 'admin', user: 'ada' }
    const { 'x-treadle': _, ...unmarked } = own
    const forgeries: readonly Readonly<Record<string, string>>[] = [
      { ...own, 'sec-fetch-site': 'cross-site' },
      { ...own, 'sec-fetch-site': 'same-site' },
      { ...own, 'sec-fetch-site': 'none' },
      { ...own, origin: 'http://evil.example' },
      { ...own, origin: 'null' },
      { ...own, origin: 'http://localhost.evil.example' },
      { ...own, 'content-type': 'text/plain' },
      { 'content-type': 'application/json', 'x-treadle': '1' },
      unmarked,
    ]
    for (const headers of forgeries) expect([403, 415]).toContain((await ask(method, to, body, headers)).status)
    expect(await stateOf(ids.hidden as string)).toBe('ready')
  })

  test('a limited viewer can look for, watch and search nothing of another queue', async () => {
    viewer = { role: 'operate', user: 'eve', queues: ['mail'] }
    const topics = ['job:{hidden}', 'queue:billing', 'schedule:digest', 'workflow:{hidden}', 'engine']
    for (const topic of topics) {
      const text = await (await ask('GET', `/-/view?topic=${topic}`)).text()
      expect(text, topic).toContain('problem')
      expect(text, topic).not.toContain('charge')
    }
    const filters = ['', 'job:charge', 'queue:billing', 'id:{hidden}', 'charge', '-queue:mail', 'state:ready']
    for (const filter of filters) {
      const text = await (await ask('GET', `/-/jobs?q=${encodeURIComponent(filled(filter))}`)).text()
      expect(text, filter).not.toContain('billing')
    }
    for (const page of ['overview:1h', 'verdict', 'counts', 'queues', 'workflows', 'schedules', 'workers', 'activity']) {
      expect(await (await ask('GET', `/-/view?topic=${page}`)).text(), page).not.toMatch(/billing|digest/)
    }
    expect((await ask('GET', '/-/text?id={hidden}&part=payload')).status).toBe(404)
    const rows = await (await ask('GET', '/-/view?topic=rows:{hidden},{own},nothing,__proto__')).json()
    const { hidden = '', own: mine = '' } = ids
    expect(rows).toMatchObject({ data: { [hidden]: null, [mine]: { id: mine, queue: 'mail' }, nothing: null } })
    const many = Array.from({ length: 51 }, (_, n) => `job-${n}`).join(',')
    expect(await (await ask('GET', `/-/view?topic=rows:${many}`)).text()).toContain('At most 50 rows can be watched')
  })

  test('a bulk action of others is neither watched nor ended by those of another queue', async () => {
    viewer = { role: 'operate', user: 'ada' }
    const started = (await (await ask('POST', '/-/bulk', { action: 'retry', filter: 'state:dead', expected: 1 })).json()) as {
      readonly id: string
    }
    expect((await ask('GET', `/-/bulk?id=${started.id}`)).status).toBe(200)
    viewer = { role: 'operate', user: 'eve', queues: ['mail'] }
    expect((await ask('GET', `/-/bulk?id=${started.id}`)).status).toBe(404)
    expect((await ask('DELETE', `/-/bulk?id=${started.id}`)).status).toBe(404)
  })

  test('an encrypted payload is in nothing that is sent, and no search finds it', async () => {
    viewer = { role: 'admin', user: 'ada' }
    for (const to of [
      '/-/view?topic=job:{closed}',
      '/-/jobs?q=',
      '/-/text?id={closed}&part=payload',
      '/-/view?topic=overview:1h',
    ]) {
      expect(await (await ask('GET', to)).text(), to).not.toContain(secret)
    }
    const found = await (await ask('GET', `/-/jobs?q=${encodeURIComponent(`payload.text:"${secret}"`)}`)).json()
    expect(found).toMatchObject({ jobs: [] })
  })

  test('a payload of 5 MB is cut in a page and whole in a download, which no browser shows as a page', async () => {
    viewer = { role: 'admin', user: 'ada' }
    expect((await (await ask('GET', '/-/view?topic=job:{huge}')).text()).length).toBeLessThan(200_000)
    expect((await (await ask('GET', '/-/jobs?q=')).text()).length).toBeLessThan(200_000)
    const whole = await ask('GET', '/-/text?id={huge}&part=payload')
    expect((await whole.text()).length).toBeGreaterThan(5_000_000)
    expect(whole.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(whole.headers.get('content-disposition')).toMatch(/^attachment/)
    expect(whole.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('a row that somebody has spoilt is a row that says so, and spoils no other', async () => {
    viewer = { role: 'admin', user: 'ada' }
    const { jobs: rows } = (await (await ask('GET', '/-/jobs?q=')).json()) as {
      readonly jobs: readonly { readonly id: string }[]
    }
    expect(rows.find(({ id }) => id === ids.spoilt)).toMatchObject({ spoilt: true })
    expect(rows).toHaveLength(6)
    expect((await ask('GET', '/-/view?topic=job:{spoilt}')).status).toBe(200)
    expect((await ask('GET', '/-/dead')).status).toBe(200)
  })

  test('names that turn the text around are found by what they are', async () => {
    viewer = { role: 'admin', user: 'ada' }
    for (const key of ['job', 'group']) {
      const found = await (await ask('GET', `/-/jobs?q=${encodeURIComponent(`${key}:${JSON.stringify(turned)}`)}`)).json()
      expect(found, key).toMatchObject({ jobs: [{ id: ids.strange }] })
    }
    const queue = await ask('GET', '/-/view?topic=queue:odd')
    expect(await queue.json()).toMatchObject({ data: { jobs: [{ job: turned }] } })
  })

  test.each([
    '/-/..%2f..%2f..%2fpackage.json',
    '/-/%2e%2e/%2e%2e/package.json',
    '/-/....//....//package.json',
    '/-/manifest.json',
    '/-/api/../../api/v1/jobs',
    '/-/api/%2e%2e/me',
    '/-/api//evil.example/',
    '/-/%00',
    '/-/constructor',
    '/-/view?topic=constructor:1',
    '/-/view?topic=__proto__',
    '/-/view?topic=job:%0d%0aset-cookie:%20a=b',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/constructor',
    '/jobs%0d%0aset-cookie:a=b',
  ])('%s leads nowhere', async (to) => {
    viewer = { role: 'read', user: 'eve' }
    const answer = await ask('GET', to)
    const text = await answer.text()
    expect([200, 400, 403, 404, 405]).toContain(answer.status)
    expect(text).not.toMatch(/"dependencies"|root:.*:0:0|"preload"/)
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(answer.headers.get('location')).toBeNull()
  })

  test.each(['PUT', 'OPTIONS', 'LINK'])('%s is no way in', async (method) => {
    viewer = { role: 'read', user: 'eve' }
    for (const to of ['/', '/-/jobs?q=', '/-/api/jobs/{hidden}']) {
      const answer = await ask(method, to)
      expect([403, 404, 405]).toContain(answer.status)
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
  })
})
