import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../dist/index.js'
import { type JobServer, serve } from '../../dist/server/index.js'
import { execute, query, scratchFolder } from '../processes/database.ts'
import { endPrograms, startProgram } from '../processes/program.ts'
import { accessibilityProblems, hasBrowser, type Opened, useBrowser } from './browser.ts'

const folder = scratchFolder()
afterEach(endPrograms)
afterAll(() => folder.remove())

describe.skipIf(!hasBrowser)('somebody who watches', () => {
  const browser = useBrowser()

  const watching = async (
    path: string,
  ): Promise<{ readonly opened: Opened; readonly server: JobServer; readonly origin: string }> => {
    const jobs = treadle(`sqlite:${path}`, { logger: { debug() {}, info() {}, warn() {}, error() {} } })
    const server = await serve(jobs, { port: null, httpPort: 0 })
    const opened = await browser.open()
    onTestFinished(async () => {
      await opened.context.close()
      await server.stop({ graceMs: 1_000 })
      await jobs.close()
    })
    return { opened, server, origin: `http://127.0.0.1:${server.httpAddress?.port}` }
  }

  test('a worker that is killed sees when its lease ends, that it sends no heartbeat, that it is gone, and its job elsewhere', async () => {
    const path = folder.file('killed.db')
    const log = folder.file('runs.log')
    // The clock of the dead worker is moved by hand, so that nothing depends on the speed of this machine.
    const victim = startProgram('logging-worker', { path, log, lease: '1h', hangAt: 1 })
    await victim.line('working')
    const { opened, origin } = await watching(path)
    const { page } = opened
    const jobs = treadle(`sqlite:${path}`)
    onTestFinished(() => jobs.close())
    const run = await jobs.declare('count').dispatch()
    await victim.line('hanging')
    await page.goto(`${origin}/workers`)
    const row = page.locator('tbody tr', { hasText: String(victim.pid) })
    await row.waitFor()
    expect(await row.getByText('no heartbeat').count()).toBe(0)
    await victim.kill()
    const ofVictim = `owner LIKE '%:${victim.pid}:%'`
    execute(path, `UPDATE treadle_workers SET seen_at = seen_at - 1000000 WHERE ${ofVictim}`)
    await row.getByText('no heartbeat').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.goto(`${origin}/jobs/${run.id}`)
    await page.locator('.timeline .mark', { hasText: /lease ends\s*in \d+ m/ }).waitFor()
    await page.goto(`${origin}/workers`)
    await row.getByText('no heartbeat').waitFor()
    execute(path, `UPDATE treadle_workers SET expires_at = 0 WHERE ${ofVictim}`)
    await row.waitFor({ state: 'detached' })
    await page.goto(`${origin}/jobs/${run.id}`)
    await page.locator('.page-head .state-running').waitFor()
    execute(path, `UPDATE treadle_jobs SET lease_until = 0 WHERE state = 3 AND ${ofVictim}`)
    startProgram('logging-worker', { path, log, lease: '1h' })
    await page.locator('.page-head .state-succeeded').waitFor()
    expect(query(path, 'SELECT id FROM treadle_jobs WHERE rescues = 1')).toEqual([{ id: run.id }])
  })

  test('a version that fails sees its error on top of all others, with its share, without asking', async () => {
    const path = folder.file('failing.db')
    const { opened, origin } = await watching(path)
    const { page } = opened
    const jobs = treadle(`sqlite:${path}`, { logger: { debug() {}, info() {}, warn() {}, error() {} } })
    onTestFinished(() => jobs.close())
    const charge = jobs.define('charge', async ({ error }: { readonly error: string }) => {
      throw new Error(error)
    })
    await charge.dispatch({ error: 'The card was declined' })
    await jobs.run()
    await page.goto(`${origin}/dead`)
    const first = page.locator('tbody tr').first()
    await first.getByRole('link', { name: 'The card was declined' }).waitFor()
    for (const _ of [1, 2, 3]) await charge.dispatch({ error: 'amount is not a function' })
    await jobs.run()
    await first.getByRole('link', { name: 'amount is not a function' }).waitFor()
    expect(await first.locator('td[data-label=jobs]').textContent()).toBe('3 75 %')
    await first.getByRole('link', { name: 'amount is not a function' }).click()
    await page.getByText(/3 dead 75 % · exhausted/).waitFor()
    await page.locator('.code', { hasText: 'incidents.test' }).waitFor()
  })
})
