import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { hasBrowser, type Opened, useBrowser } from './browser.ts'
import { type Mounted, mounted, silent, visit } from './mounted.ts'

describe.skipIf(!hasBrowser)('the page of a job that does not run says that', () => {
  const browser = useBrowser()
  let jobs: Treadle
  let shown: Mounted
  let opened: Opened

  beforeAll(async () => {
    jobs = treadle('memory:', {
      logger: silent,
      queues: { narrow: { concurrency: 1 }, slow: { rate: { limit: 1, per: '1h' } } },
    })
    shown = await mounted(jobs)
    opened = await browser.open()
  })
  afterAll(async () => {
    await opened?.context.close()
    await shown?.[Symbol.asyncDispose]()
    await jobs?.close()
  })

  const told = async (id: string, reason: RegExp) => {
    await visit(opened.page, `${shown.origin}/jobs/${id}`)
    await opened.page.getByRole('heading', { name: 'Why it is not running yet' }).waitFor()
    await opened.page.locator('.why').getByText(reason).first().waitFor()
  }

  test('no worker is running', async () => {
    jobs.declare('idle')
    const { id } = await jobs.dispatch('idle')
    await told(id, /No worker is running/)
  })

  test('its time lies ahead, or another job has to end first', async () => {
    const later = await jobs.dispatch('idle', {}, { delay: '2h' })
    await told(later.id, /It is due in 1h59m/)
    const after = await jobs.dispatch('idle', {}, { dependsOn: [later] })
    await told(after.id, /It waits for a job that it depends on: "idle"/)
  })

  test('no worker has its handler, its queue or its name is paused, or a limit, a group or a rate holds it back', async () => {
    const until = (_: unknown, { signal }: { readonly signal: AbortSignal }) => once(signal, 'abort').then(() => {})
    const held = jobs.define('held', until).queue('narrow')
    const grouped = jobs.define('grouped', until).group(() => 'acme', { concurrency: 1 })
    const rated = jobs.define('rated', async () => {}).queue('slow')
    const first = [await held.dispatch({}), await grouped.dispatch({}), await rated.dispatch({})]
    void jobs.work({ signals: false, concurrency: 10, grace: '50ms' })
    for (const run of first.slice(0, 2)) await expect.poll(() => run.state(), { timeout: 60_000 }).toBe('running')
    await expect.poll(() => first[2]?.state(), { timeout: 60_000 }).toBe('succeeded')
    await told((await held.dispatch({})).id, /1 of 1 run/)
    await told((await grouped.dispatch({})).id, /of the group "acme"/)
    await told((await rated.dispatch({})).id, /rate/)
    await told((await jobs.declare('foreign').dispatch()).id, /has no handler for "foreign"/)
    await (await jobs.store()).setPaused({ queue: 'slow' }, true)
    await told((await rated.dispatch({})).id, /paused/)
    await (await jobs.store()).setPaused({ job: 'held' }, true)
    await told((await held.dispatch({})).id, /paused/)
    expect(opened.complaints).toEqual([])
  })
})
