import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { execute, query, scratchFolder } from '../processes/database.ts'
import { hasBrowser, type Opened, useBrowser } from './browser.ts'
import { type Mounted, mounted, silent, visit } from './mounted.ts'

const folder = scratchFolder()

/** Markup, a script's address, a turned text, a terminal's command and the end of a text in C. */
const nasty = `<script>document.title='hacked'</script>javascript:alert(1) "'>\u202eturned\u001b[31mred\u0000end`
/** What a name may have in it; the rest is refused by every way in, so it is written past them. */
const name = nasty.split('\u001b').join('').split('\u0000').join('').slice(0, 120)
const path = folder.file('nasty.db')

describe.skipIf(!hasBrowser)('a nasty text', () => {
  const browser = useBrowser()
  let jobs: Treadle
  let shown: Mounted
  let opened: Opened
  const addresses: string[] = []

  beforeAll(async () => {
    jobs = treadle(`sqlite:${path}`, { logger: silent, environment: name })
    const fails = jobs
      .define(name, async (_: unknown, ctx) => {
        ctx.log(nasty, { [name]: nasty })
        await ctx.progress({ [name]: nasty })
        throw Object.assign(new Error(nasty, { cause: new Error(nasty) }), { code: name })
      })
      .queue('a/b:c')
      .retries(0, { jitter: 'none' })
    const options = { group: name, tags: [name.slice(0, 59)], unique: name, meta: { [name]: nasty } }
    const failing = await fails.dispatch({ [name]: nasty }, options)
    const { id } = failing
    const later = await fails.dispatch({}, { dependsOn: [failing], delay: '1h' })
    await jobs.schedules.upsert(name.slice(0, 59), { job: name, cron: '0 3 * * *', payload: { [name]: nasty } })
    void jobs.work({ signals: false })
    await failing.result({ timeout: '60s' }).catch(() => {})
    // No program can send these: somebody has written them into the file.
    const text = `'${nasty.replaceAll("'", "''").split('\u0000')[0]}' || char(0) || 'end'`
    execute(path, `UPDATE treadle_jobs SET reason = ${text} WHERE id = '${id}'`)
    const [columns] = query<{ readonly names: string }>(
      path,
      `SELECT group_concat(name) AS names FROM pragma_table_info('treadle_workers')`,
    )
    for (const column of ['host', 'version'].filter((each) => columns?.names.split(',').includes(each)))
      execute(path, `UPDATE treadle_workers SET ${column} = ${text}`)
    shown = await mounted(jobs, { authorize: () => ({ role: 'operate', user: name }) })
    addresses.push(
      '/',
      '/jobs',
      `/jobs?q=${encodeURIComponent(JSON.stringify(name))}`,
      `/jobs/${id}`,
      `/jobs/${later.id}`,
      '/queues',
    )
    addresses.push(
      '/queues/a%2Fb%3Ac',
      '/workflows',
      `/workflows/${id}`,
      '/schedules',
      '/schedules?view=day',
      '/dead',
      '/workers',
    )
    addresses.push(`/schedules/${encodeURIComponent(`stored:${name.slice(0, 59)}`)}`, '/engine', '/activity')
    opened = await browser.open()
  })
  afterAll(async () => {
    await opened?.context.close()
    await shown?.[Symbol.asyncDispose]()
    await jobs?.close()
    folder.remove()
  })

  test('in any field is text on every page, leads nowhere, and turns nothing around', async () => {
    const { page, complaints } = opened
    const pages = [...addresses]
    await visit(page, `${shown.origin}/dead`)
    pages.push((await page.locator('tbody a[href*="/dead/"]').first().getAttribute('href')) ?? '')
    for (const address of pages) {
      await visit(page, shown.origin + address)
      const text = (await page.locator('body').textContent()) ?? ''
      for (const sign of ['\u202e', '\u001b', '\u0000']) expect(text.includes(sign), address).toBe(false)
      expect(await page.locator('main script, main img, main iframe, [href^="javascript:"]').count(), address).toBe(0)
      expect(await page.title(), address).not.toBe('hacked')
      expect(await page.title(), address).not.toContain('\u202e')
    }
    expect(complaints).toEqual([])
  })

  test('in a message of a refusal and in the list of what was done is text too', async () => {
    const { page, complaints } = opened
    await visit(page, `${shown.origin}/queues/a%2Fb%3Ac`)
    await page.getByRole('button', { name: /^Pause jobs with the key/ }).click()
    await page.getByRole('button', { name: /^Resume jobs with the key/ }).waitFor()
    await page.getByRole('button', { name: 'Pause a/b:c' }).click()
    await page.getByText(/^paused here by/).waitFor()
    await visit(page, `${shown.origin}/activity`)
    await page.getByText('pause the jobs "<script>').waitFor()
    expect(await page.locator('body').textContent()).not.toContain('\u202e')
    expect(await page.title()).not.toBe('hacked')
    expect(complaints).toEqual([])
  })
})
