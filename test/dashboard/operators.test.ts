import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { connect, query, scratchFolder } from '../processes/database.ts'
import { hasBrowser, type Opened, useBrowser } from './browser.ts'
import { mounted, ofPage, silent, visit } from './mounted.ts'

const folder = scratchFolder()
afterAll(() => folder.remove())

describe.skipIf(!hasBrowser)('operators', () => {
  const browser = useBrowser()

  const opened = async (user?: string): Promise<Opened> => {
    const window = await browser.open()
    if (user !== undefined) await window.context.setExtraHTTPHeaders({ 'x-user': user })
    onTestFinished(() => window.context.close())
    return window
  }

  const shownOf = async (jobs: Treadle) => {
    const shown = await mounted(jobs)
    onTestFinished(async () => {
      await shown[Symbol.asyncDispose]()
      await jobs.close()
    })
    return shown
  }

  test('who pause and resume the same queue see the same state, and who of them paused it', async () => {
    const jobs = treadle('memory:', { logger: silent })
    await jobs.define('send', async () => {}).dispatch()
    const { origin } = await shownOf(jobs)
    const [ada, grace] = [await opened('ada'), await opened('grace')]
    for (const { page } of [ada, grace]) await visit(page, `${origin}/queues/default`)
    await ada.page.getByRole('button', { name: 'Pause default' }).click()
    for (const { page } of [ada, grace]) await page.getByText(/^paused here by ada, /).waitFor()
    await grace.page.getByRole('button', { name: 'Resume default' }).click()
    for (const { page } of [ada, grace]) await page.getByText(/^paused here/).waitFor({ state: 'detached' })
    await grace.page.getByRole('button', { name: 'Pause default' }).click()
    await ada.page.getByText(/^paused here by grace, /).waitFor()
    await visit(ada.page, `${origin}/activity`)
    const rows = ada.page.locator('tbody tr')
    expect(await rows.locator('.grow').allTextContents()).toEqual([
      'pause the queue "default"',
      'resume the queue "default"',
      'pause the queue "default"',
    ])
    expect(await rows.locator('td:nth-child(2)').allTextContents()).toEqual(['grace', 'grace', 'ada'])
    await rows.first().getByRole('link', { name: 'pause the queue "default"' }).click()
    await ada.page.getByRole('heading', { name: 'Queue default' }).waitFor()
  })

  test('who pause a schedule in the page and at the command line see what the other did', async () => {
    const path = folder.file('schedules.db')
    const jobs = treadle(`sqlite:${path}`, { logger: silent })
    jobs.declare('report')
    await jobs.schedules.upsert('nightly', { job: 'report', cron: '30 2 * * *', payload: null })
    const { origin } = await shownOf(jobs)
    const { page } = await opened()
    await visit(page, `${origin}/schedules`)
    await page.getByRole('button', { name: 'Pause stored:nightly' }).click()
    await page.getByRole('button', { name: 'Resume stored:nightly' }).waitFor()
    expect(await command('list', '--schedules', '--url', `sqlite:${path}`)).toMatch(/nightly\s.*paused/)
    await command('resume', '--schedule', 'stored:nightly', '--url', `sqlite:${path}`)
    await page.getByRole('button', { name: 'Pause stored:nightly' }).waitFor()
    await command('pause', '--schedule', 'stored:nightly', '--url', `sqlite:${path}`)
    await page.getByRole('button', { name: 'Resume stored:nightly' }).waitFor()
  })

  test('who close the page while thousands are retried find them in the activity, and stop them there', async () => {
    const path = folder.file('thousands.db')
    const jobs = treadle(`sqlite:${path}`, { logger: silent })
    const charge = jobs.define('charge', async (n: number) => {
      throw new Error(`The card ${n} was declined`)
    })
    await jobs.dispatchMany(
      charge,
      Array.from({ length: 5_000 }, (_, n) => n),
    )
    await jobs.run({ concurrency: 200 })
    const { origin } = await shownOf(jobs)
    const first = await opened()
    await visit(first.page, `${origin}/dead`)
    await first.page.getByText('5,000 dead').waitFor()
    await first.page.getByRole('button', { name: /^Retry/ }).click()
    const dialog = first.page.getByRole('dialog')
    await dialog.locator('.samples li').nth(2).waitFor()
    await dialog.getByLabel(/to go on/).fill('5000')
    // Nobody can write to the file, so that the action stands still after its first jobs.
    const unlock = lock(path)
    await dialog.getByRole('button', { name: /^Retry (about )?5,000 jobs$/ }).click()
    await first.page.getByText(/of 5,000/).waitFor()
    await first.context.close()
    const { page } = await opened()
    await visit(page, `${origin}/activity`)
    const row = page.locator('tbody tr', { hasText: 'retry 5000 jobs' })
    await row.getByRole('progressbar').waitFor()
    await row.getByRole('button', { name: 'Stop' }).click()
    unlock()
    await row.getByText(/^\d+ done, stopped$/).waitFor()
    const [{ dead } = { dead: 0 }] = query<{ readonly dead: number }>(
      path,
      'SELECT COUNT(*) AS dead FROM treadle_jobs WHERE state = 5',
    )
    expect(dead).toBeGreaterThan(4_900)
    expect(dead).toBeLessThan(5_000)
  })

  test('who retry all jobs of an error retry none that dies of it after that, and none twice', async () => {
    const jobs = treadle(`sqlite:${folder.file('again.db')}`, { logger: silent })
    const charge = jobs.define('charge', async (n: number) => {
      throw new Error(`The card ${n} was declined`)
    })
    const range = (from: number) => Array.from({ length: 300 }, (_, n) => from + n)
    await jobs.dispatchMany(charge, range(0))
    await jobs.run({ concurrency: 100 })
    const { origin } = await shownOf(jobs)
    void jobs.work({ signals: false, concurrency: 20 })
    const store = await jobs.store()
    const old = (await store.list({ state: 'dead', limit: 1_000 })).map(({ id }) => id)
    const body = JSON.stringify({ action: 'retry', filter: 'state:dead job:charge', expected: 300 })
    const bulk = (await (await fetch(`${origin}/-/bulk`, { method: 'POST', headers: ofPage, body })).json()) as {
      readonly id: string
    }
    await jobs.dispatchMany(charge, range(300))
    const ended = async () => {
      const answer = await fetch(`${origin}/-/bulk?id=${bulk.id}`, { headers: ofPage })
      return (await answer.json()) as { readonly endedAt: number | null; readonly done: number }
    }
    await expect.poll(async () => (await ended()).endedAt, { timeout: 60_000 }).not.toBeNull()
    expect((await ended()).done).toBe(300)
    await expect.poll(async () => (await store.list({ state: 'dead', limit: 1_000 })).length, { timeout: 60_000 }).toBe(600)
    for (const { id, errors } of await store.list({ state: 'dead', limit: 1_000 }))
      expect(errors).toHaveLength(old.includes(id) ? 2 : 1)
  })

  test('who click twice run a schedule once', async () => {
    const jobs = treadle('memory:', { logger: silent })
    jobs.define('digest', async () => {}).dailyAt('02:30')
    const { origin } = await shownOf(jobs)
    const { page } = await opened()
    await visit(page, `${origin}/schedules`)
    await page.getByRole('button', { name: 'Run now digest' }).dblclick()
    await page.getByText('Sent:').first().waitFor()
    await visit(page, `${origin}/activity`)
    expect(await page.locator('tbody tr .grow').allTextContents()).toEqual(['run the schedule "digest" now'])
    expect(await (await jobs.store()).list({ job: 'digest', limit: 10 })).toHaveLength(1)
  })

  test('who cancel a running job see that it was asked to stop, and then that it is cancelled', async () => {
    const jobs = treadle('memory:', { logger: silent })
    let obey = () => {}
    const deaf = new Promise<void>((resolve) => {
      obey = resolve
    })
    const long = jobs.define('long', async (_: unknown, { signal }) => {
      await once(signal, 'abort')
      await deaf
      signal.throwIfAborted()
    })
    const { id } = await long.dispatch({})
    void jobs.work({ signals: false })
    const { origin } = await shownOf(jobs)
    const { page } = await opened()
    await visit(page, `${origin}/jobs/${id}`)
    await page.locator('.page-head .state-running').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).first().click()
    await page.getByRole('button', { name: 'Cancel the job' }).click()
    await page.locator('.page-head', { hasText: 'asked to stop' }).waitFor()
    obey()
    await page.locator('.page-head .state-cancelled').waitFor()
  })
})

/** Holds the right to write to a file until the returned function is called. */
function lock(path: string): () => void {
  const holder = connect(path)
  holder.exec('PRAGMA busy_timeout = 30000; BEGIN IMMEDIATE')
  return () => {
    holder.exec('ROLLBACK')
    holder.close()
  }
}

async function command(...words: readonly string[]): Promise<string> {
  const program = spawn(process.execPath, [new URL('../../dist/cli/main.js', import.meta.url).pathname, ...words])
  let said = ''
  for (const stream of [program.stdout, program.stderr]) stream.on('data', (part) => (said += part))
  const [code] = await once(program, 'close')
  if (code !== 0) throw new Error(`treadle ${words.join(' ')}: ${said}`)
  return said
}
