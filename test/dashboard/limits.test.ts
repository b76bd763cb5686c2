import { describe, expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../dist/index.js'
import { type DashboardViewer, dashboard } from '../../dist/server/dashboard/index.js'

const limited: DashboardViewer = { role: 'read', user: 'ada', queues: ['mail'] }

/** A visible job whose workflow began with a hidden one, which failed with a secret. */
async function looking() {
  const jobs = treadle('memory:')
  let viewer: DashboardViewer | null = limited
  const shown = dashboard(jobs, { authorize: () => viewer })
  onTestFinished(async () => {
    await shown.close()
    await jobs.close()
  })
  const hidden = jobs
    .define('acme-merger', async () => {
      throw new Error('card 4111 was declined')
    })
    .queue('billing')
    .retries(0, { jitter: 'none' })
  const first = await hidden.dispatch()
  const second = await jobs
    .define('mail-x', async (_: object) => {})
    .queue('mail')
    .dispatch({}, { dependsOn: [first] })
  const child = jobs.define('mail-child', async (_: object) => {}).queue('mail')
  const boss = jobs.define('acme-boss', async (_: unknown, ctx) => void (await ctx.dispatchChild(child, {}))).queue('billing')
  const parent = await boss.dispatch()
  await jobs.run()
  const ask = (path: string, { headers, ...init }: RequestInit = {}) =>
    shown.fetch(new Request(`http://localhost${path}`, { ...init, headers: { ...headers, 'sec-fetch-site': 'same-origin' } }))
  const text = async (path: string) => {
    const answer = await ask(path)
    expect(answer.status, path).toBe(200)
    return answer.text()
  }
  return { jobs, ask, text, first, second, parent, become: (other: DashboardViewer | null) => (viewer = other) }
}

describe('who may see one queue', () => {
  test.each(['error:"card 4111"', 'acme-merger', '-error:nothing error:declined'])(
    'finds no hidden text by the filter %s',
    async (filter) => {
      const { text, become } = await looking()
      const path = `/-/jobs?q=${encodeURIComponent(filter)}`
      expect(JSON.parse(await text(path)).jobs).toEqual([])
      become({ role: 'read', user: 'all' })
      expect(JSON.parse(await text(path)).jobs).not.toEqual([])
    },
  )

  test.each(['jobs?q=', 'dead', 'workflows'])('is not told how many hidden jobs were searched for %s', async (path) => {
    const { text, second, become } = await looking()
    become({ role: 'read', user: 'ada', queues: ['mail', 'post'] })
    const { searched } = JSON.parse(await text(`/-/${path}`))
    const own = JSON.parse(await text('/-/jobs?q=queue:mail')).jobs as { id: string; createdAt: number }[]
    expect(own.map(({ id }) => id)).toContain(second.id)
    expect(searched.jobs).toBeLessThanOrEqual(own.length)
    expect([null, ...own.map(({ createdAt }) => createdAt)]).toContain(searched.until)
  })

  test('may not look at the engine, nor have the doctor look at it', async () => {
    const { ask, become } = await looking()
    const examine = () =>
      ask('/-/doctor', { method: 'POST', body: '{}', headers: { 'x-treadle': '1', 'content-type': 'application/json' } })
    become({ role: 'operate', user: 'ada', queues: ['mail'] })
    expect((await examine()).status).toBe(403)
    expect(JSON.parse(await (await ask('/-/view?topic=engine')).text()).problem.status).toBe(403)
    become({ role: 'operate', user: 'all' })
    expect((await examine()).status).toBe(200)
  })

  test('finds its own jobs whether or not the hidden text is left out', async () => {
    const { text, second } = await looking()
    const found = JSON.parse(await text(`/-/jobs?q=${encodeURIComponent('-error:"card 4111"')}`)).jobs
    expect(found.map(({ id }: { id: string }) => id)).toContain(second.id)
  })

  test('sees no workflow whose root is hidden', async () => {
    const { text, parent, become } = await looking()
    expect(JSON.parse(await text('/-/workflows')).workflows).toEqual([])
    become({ role: 'read', user: 'all' })
    expect(JSON.parse(await text('/-/workflows')).workflows).toMatchObject([{ root: parent.id, name: 'acme-boss', total: 2 }])
  })

  test('sees of workers only the names of jobs that its queue has had', async () => {
    const { jobs, text } = await looking()
    const worked = jobs.work({ signals: false })
    onTestFinished(async () => {
      await jobs.stop()
      await worked
    })
    await expect.poll(() => text('/-/view?topic=workers'), { timeout: 60_000 }).toContain('mail-x')
    expect(await text('/-/view?topic=workers')).not.toContain('acme-merger')
  })
})

test('a stream ends when its viewer may look no longer, however much there is to tell', async () => {
  const { jobs, ask, become } = await looking()
  const stream = (await ask('/-/events?topic=overview')).body as ReadableStream<Uint8Array>
  const reader = stream.getReader()
  expect((await reader.read()).done).toBe(false)
  become(null)
  await jobs.define('more', async () => {}).dispatch()
  let isOver = false
  while (!isOver) isOver = (await reader.read()).done
  expect(isOver).toBe(true)
})

test('who may see some jobs is not shown paused queues without such jobs', async () => {
  const { jobs, ask, become } = await looking()
  await jobs.pause({ queue: 'board-meeting' })
  const told = async (topic: string) => (await ask(`/-/view?topic=${topic}`)).text()
  become({ role: 'read', user: 'all' })
  expect(await told('queues')).toContain('board-meeting')
  expect(await told('queue:board-meeting')).toContain('"paused":true')
  become({ role: 'read', user: 'ada', jobs: 'mail-*' })
  expect(await told('queues')).toContain('mail')
  expect(await told('queues')).not.toContain('board-meeting')
  expect(await told('queue:board-meeting')).toContain('There is no queue')
})
