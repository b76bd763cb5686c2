import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityProblems, hasBrowser, type Opened, useBrowser } from './browser.ts'
import { type Engine, evil, mailToken, pages, readToken, type Sample, sampleOn, token } from './sample.ts'

const patience = { timeout: 60_000 }

describe.skipIf(!hasBrowser)('the dashboard in a browser', () => {
  const browser = useBrowser()

  describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
    let sample: Sample
    let operator: Opened
    beforeAll(async () => {
      sample = await sampleOn(engine)
      operator = await browser.open()
      await operator.page.goto(sample.server.dashboardUrl() ?? '')
      await operator.page.getByRole('navigation', { name: 'Pages' }).waitFor()
    })
    afterAll(async () => {
      await operator?.context.close()
      await sample?.[Symbol.asyncDispose]()
    })

    const visit = async (path: string) => {
      await operator.page.goto(sample.origin + path)
      await operator.page.locator('main h1').first().waitFor({ state: 'attached' })
      await operator.page.locator('.loading').first().waitFor({ state: 'detached' })
    }

    test('the printed link signs in once, and leaves nothing in the address, the storage or the cookies that a script could read', async () => {
      const { page, context } = operator
      expect(page.url()).toBe(`${sample.origin}/`)
      expect(await page.evaluate('document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })')).toBe('{}')
      expect(await context.cookies()).toEqual([expect.objectContaining({ httpOnly: true, sameSite: 'Strict', path: '/' })])
      const used = sample.server.dashboardUrl() ?? ''
      const other = await browser.open()
      await other.page.goto(used)
      await other.page.getByRole('navigation', { name: 'Pages' }).waitFor()
      const third = await browser.open()
      await third.page.goto(used)
      await third.page.getByText('The link was used already').waitFor()
      await Promise.all([other.context.close(), third.context.close()])
    })

    test('the first line says what is wrong, and leads there', async () => {
      await visit('/')
      await operator.page.getByRole('link', { name: /4 jobs failed for good in the last hour/ }).click()
      await operator.page.getByRole('link', { name: 'The card ‹n› was declined' }).waitFor()
    })

    test('the tab and the menu say which page it is, where, and whether all is well there', async () => {
      const { page } = operator
      await visit('/queues/mail')
      await page.getByRole('link', { name: /Overview\s*something/ }).waitFor()
      expect(await page.title()).toMatch(/^\(\d\) Queue mail · production · Treadle$/)
      const icon = await page.locator('link[rel=icon]').evaluate((link) => (link as unknown as { readonly href: string }).href)
      expect(icon).toMatch(/\/-\/icon-(problem|warning)\.svg$/)
      const answer = await page.request.get(icon)
      expect([answer.status(), answer.headers()['content-type']]).toEqual([200, 'image/svg+xml'])
    })

    test('a day of the calendar begins at midnight, also where clocks change by half an hour', async () => {
      const { page } = operator
      await visit('/schedules')
      await page.evaluate(`localStorage.setItem('treadle-zone', 'Australia/Lord_Howe')`)
      const asked = page.waitForRequest((request) => request.url().includes('/-/calendar?'))
      await visit(`/schedules?view=day&at=${Date.parse('2026-10-04T01:00:00Z')}`)
      const { searchParams } = new URL((await asked).url())
      const [from, to] = ['from', 'to'].map((name) => new Date(Number(searchParams.get(name))).toISOString())
      expect([from, to]).toEqual(['2026-10-03T13:30:00.000Z', '2026-10-04T13:00:00.000Z'])
      await page.evaluate(`localStorage.removeItem('treadle-zone')`)
    })

    test('a search goes on until it finds a job or ends, after one click', async () => {
      const { page } = operator
      const [at, nexts] = [Date.parse('2026-11-01T00:00:00Z'), ['a', 'b', 'c', null]]
      await page.route('**/-/jobs?*', (route) => {
        const body = JSON.stringify({ jobs: [], next: nexts.shift(), searched: { jobs: 1_000, until: at }, total: null })
        return route.fulfill({ contentType: 'application/json', body })
      })
      await visit('/jobs?q=nowhere')
      await page.getByText('No job matches so far').waitFor()
      await page.getByRole('button', { name: 'Search further' }).click()
      await page.getByText(/End of the list: searched 4,000 jobs/).waitFor()
      await page.unroute('**/-/jobs?*')
    })

    test('a job leads to its workflow, and to all jobs with its key', async () => {
      const { page } = operator
      const store = await sample.jobs.store()
      const step = (await store.list({ job: 'after', limit: 10 })).find(({ root, id }) => root !== null && root !== id)
      await visit(`/jobs/${step?.id}`)
      expect(await page.getByRole('heading', { name: 'How it ended' }).count()).toBe(1)
      expect(await page.locator('.why').textContent()).not.toMatch(/\d{4}-\d\d-\d\dT/)
      expect(await page.locator('.facts').getByRole('link', { name: 'after' }).getAttribute('href')).toBe('/jobs?q=job%3Aafter')
      await page.locator('.facts').getByTitle(String(step?.root)).click()
      await page.getByRole('link', { name: /after\s*succeeded/ }).waitFor()
    })

    test('what a chart shows is named beside the colour that it has there', async () => {
      await visit('/')
      await operator.page.locator('.bar-dead').first().waitFor()
      const colours = await operator.page.evaluate(
        `[getComputedStyle(document.querySelector('.bar-dead')).fill, getComputedStyle(document.querySelector('.key-dead'), '::before').backgroundColor]`,
      )
      expect(colours).toEqual([expect.stringMatching(/^rgb\(/), (colours as string[])[0]])
    })

    test.runIf(engine === 'sqlite').each(pages)(
      '%s has nothing in it that keeps anybody out, and keeps to its policy',
      async (path) => {
        await visit(path)
        expect(await accessibilityProblems(operator.page)).toEqual([])
        expect(operator.complaints).toEqual([])
        expect(await operator.page.title()).not.toBe('hacked')
      },
    )

    test('what jobs say is text everywhere, also where it could turn the text around', async () => {
      for (const path of [`/jobs/${sample.ids.evil}`, '/jobs?q=job:nasty', '/dead', '/']) {
        await visit(path)
        await operator.page.getByText('<img src=x onerror').first().waitFor()
        expect(await operator.page.locator('main img').count()).toBe(0)
        expect(await operator.page.locator('main').textContent()).not.toContain('\u202e')
      }
      expect(await operator.page.title()).not.toBe('hacked')
      expect(operator.complaints).toEqual([])
      await visit(`/jobs?q=${encodeURIComponent(JSON.stringify(evil.slice(0, 40)))}`)
      expect(operator.complaints).toEqual([])
    })

    test('a job shows what it has logged, without passwords, and its tags lead to all jobs that have them', async () => {
      const { page } = operator
      await visit(`/jobs/${sample.ids.evil}`)
      await page.locator('.log-line .log-text', { hasText: '<img src=x onerror' }).waitFor()
      expect(await page.locator('.log').textContent()).not.toContain('nobody reads this')
      await page.getByRole('link', { name: 'odd one' }).click()
      await page.getByRole('link', { name: 'nasty' }).first().waitFor()
      expect(await page.locator('tbody tr[data-row]').count()).toBe(1)
    })

    test('passwords are redacted and encrypted payloads stay closed, in the page, in what it was sent and in what it keeps', async () => {
      await visit('/jobs?q=payload.n:1')
      await operator.page.getByRole('link', { name: 'send-email' }).first().click()
      await operator.page.getByText('•••• redacted').waitFor()
      const sent: string[] = []
      operator.page.on('response', async (answer) => {
        if (answer.url().includes('/-/view')) sent.push(await answer.text().catch(() => ''))
      })
      await visit(`/jobs/${sample.ids.encrypted}`)
      await operator.page.getByText(/Encrypted with the key/).waitFor()
      expect(await operator.page.content()).not.toContain('nobody reads this')
      expect(sent.join('')).not.toContain('nobody reads this')
      const kept = await operator.page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')
      expect(kept).not.toMatch(/nobody reads this|hunter2/)
    })

    test('a job tells why it does not run, and runs when it is told to', async () => {
      await visit(`/jobs/${sample.ids.blocked}`)
      await operator.page.getByText(/It waits for a job that it depends on: "long"/).waitFor()
      await operator.page.getByRole('link', { name: 'long' }).click()
      await operator.page.getByText('62 %').waitFor()
      await visit(`/jobs/${sample.ids.scheduled}`)
      await operator.page.getByText(/It is due in/).waitFor()
      await operator.page.getByRole('button', { name: 'Run now' }).click()
      await operator.page.locator('.page-head .state-succeeded').waitFor()
    })

    test('a dead job is put back by its button and dies again, and is rescheduled, cancelled and deleted by theirs', async () => {
      const { page } = operator
      await visit(`/jobs/${sample.ids.dead}`)
      await page.getByText('The card 777 was declined').first().waitFor()
      await page.getByRole('button', { name: 'Retry' }).click()
      await page.getByText('Put back into the queue.').waitFor()
      await expect.poll(async () => (await (await sample.jobs.store()).get(sample.ids.dead))?.errors.length, patience).toBe(2)
      await visit(`/jobs/${sample.ids.encrypted}`)
      await page.getByRole('button', { name: 'Reschedule …' }).click()
      await page.getByLabel('Not before').fill('2031-01-01T10:00:00')
      await page.getByRole('button', { name: 'Reschedule', exact: true }).click()
      await page.getByText('Rescheduled.').waitFor()
      await page.getByRole('button', { name: 'Cancel' }).first().click()
      await page.locator('.page-head .state-cancelled').waitFor()
      await page.getByRole('button', { name: 'Delete …' }).click()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.waitForURL(`${sample.origin}/jobs`)
      expect(await (await sample.jobs.store()).get(sample.ids.encrypted)).toBeNull()
    })

    test('all jobs that a filter is for are put back after a count was confirmed, and no others', async () => {
      const { page } = operator
      await visit('/jobs?q=state:dead%20job:nasty')
      await page.getByText('All 2 that match').waitFor()
      await page.getByRole('button', { name: 'Retry' }).click()
      await page.getByRole('button', { name: 'Retry 2 jobs' }).click()
      await page.getByText('2 jobs put back').waitFor()
      await expect.poll(async () => (await (await sample.jobs.store()).get(sample.ids.evil))?.errors.length, patience).toBe(2)
      await visit('/activity')
      await page.getByText('retry 2 jobs').waitFor()
    })

    test('a group of one error is deleted when its number is typed', async () => {
      const { page } = operator
      const store = await sample.jobs.store()
      // Those that were put back before die again.
      await expect.poll(async () => (await store.list({ job: 'charge', state: 'dead', limit: 10 })).length, patience).toBe(2)
      await visit('/dead')
      await page.getByRole('link', { name: /The card ‹n› was declined/ }).click()
      // What is asked is how many the page shows, which may be older than what the store has.
      await page.getByText(/^2 dead/).waitFor()
      await page.getByRole('button', { name: /Delete …/ }).click()
      const button = page.getByRole('button', { name: 'Delete 2 jobs' })
      expect(await button.isDisabled()).toBe(true)
      await page.getByLabel(/to go on/).fill('2')
      await button.click()
      await page.getByText('2 jobs deleted').waitFor()
      expect(await store.list({ job: 'charge', limit: 10 })).toEqual([])
    })

    test('a filter that nobody knows is refused with what was probably meant', async () => {
      await visit('/jobs?q=stat:dead')
      await operator.page.getByText('There is no filter "stat:". Did you mean "state"?').waitFor()
    })

    test('queues and schedules are paused, resumed and run by their buttons and keys', async () => {
      const { page } = operator
      await visit('/queues')
      await page.getByRole('button', { name: 'Pause mail' }).click()
      await page.getByRole('button', { name: 'Resume mail' }).waitFor()
      expect((await (await sample.jobs.store()).paused()).queues).toEqual(['mail'])
      await visit('/queues/mail')
      await page.keyboard.press('p')
      await expect.poll(async () => (await (await sample.jobs.store()).paused()).queues, patience).toEqual([])
      await page.getByRole('button', { name: 'Pause jobs with the key send-email' }).click()
      await page.getByRole('button', { name: 'Resume jobs with the key send-email' }).waitFor()
      expect((await (await sample.jobs.store()).paused()).jobs).toEqual(['send-email'])
      await page.getByRole('button', { name: 'Resume jobs with the key send-email' }).click()
      await page.getByRole('button', { name: 'Pause jobs with the key send-email' }).waitFor()
      await visit('/schedules')
      await page.getByText('At 02:30').waitFor()
      await page.getByRole('button', { name: 'Pause digest' }).click()
      await page.getByRole('button', { name: 'Resume digest' }).click()
      await page.getByRole('button', { name: 'Run now digest' }).click()
      await page.getByText('Sent:').waitFor()
    })

    test('the keyboard goes everywhere', async () => {
      const { page } = operator
      await visit('/')
      await page.keyboard.press('g')
      await page.keyboard.press('j')
      await page.waitForURL('**/jobs')
      await page.locator('tbody tr').first().waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('x')
      await page.getByText('1 selected').waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/jobs\/[0-9a-f-]+$/)
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.keyboard.press('/')
      await page.keyboard.type(` ${sample.ids.running.toUpperCase()}`)
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'long' }).first().waitFor()
    })

    test('a running job is cancelled after a question, and a workflow is drawn', async () => {
      const { page } = operator
      await visit('/workflows')
      await page
        .getByRole('link', { name: /send-email/ })
        .first()
        .click()
      await page.getByRole('link', { name: /send-email\s*succeeded/ }).waitFor()
      await page.getByRole('link', { name: /after\s*succeeded/ }).waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      await page.getByRole('link', { name: 'table' }).click()
      await page.getByRole('cell', { name: 'send-email' }).waitFor()
      await visit(`/jobs/${sample.ids.running}`)
      await page.getByRole('button', { name: 'Cancel' }).first().click()
      await page.getByRole('button', { name: 'Cancel the job' }).click()
      await page.getByText('asked to stop').first().waitFor()
      sample.release()
      await page.locator('.page-head .state-cancelled, .page-head .state-succeeded').waitFor()
    })

    test('the doctor is asked by a button', async () => {
      await visit('/engine')
      await operator.page.getByRole('button', { name: 'Run the doctor' }).click()
      await operator.page.locator('.finding-ok').first().waitFor()
    })

    test('whoever only looks is offered nothing to do, and is refused it', async () => {
      const reader = await browser.open()
      await signIn(reader, sample, readToken)
      await reader.page.goto(`${sample.origin}/jobs?q=state:dead`)
      await reader.page.locator('tbody tr').first().waitFor()
      expect(await reader.page.getByRole('button', { name: /Retry|Delete|Cancel/ }).count()).toBe(0)
      expect(await statusOf(reader, 'POST', `/-/api/jobs/${sample.ids.evil}/retry`)).toBe(403)
      expect(await statusOf(reader, 'POST', '/-/bulk')).toBe(403)
      expect(await statusOf(reader, 'POST', '/-/doctor')).toBe(403)
      await reader.context.close()
    })

    test('who is limited to one queue sees no other one, in no list, count or search', async () => {
      const limited = await browser.open()
      await signIn(limited, sample, mailToken)
      const { page } = limited
      await page.goto(`${sample.origin}/queues`)
      await page.getByRole('link', { name: 'mail' }).first().waitFor()
      expect(await page.locator('tbody tr').count()).toBe(1)
      await page.goto(`${sample.origin}/jobs`)
      await page.locator('tbody tr').first().waitFor()
      expect(await page.getByText('nasty').count()).toBe(0)
      await page.goto(`${sample.origin}/jobs/${sample.ids.evil}`)
      await page.getByText(/There is no job/).waitFor()
      expect(await page.getByRole('link', { name: 'Engine' }).count()).toBe(0)
      expect(await statusOf(limited, 'POST', `/-/api/jobs/${sample.ids.evil}/retry`)).toBe(404)
      await limited.context.close()
    })

    test('who signs out is out, with the cookie that was', async () => {
      const leaving = await browser.open()
      await signIn(leaving, sample, token)
      const [cookie] = await leaving.context.cookies()
      await leaving.page.getByRole('button', { name: 'Sign out' }).click()
      await leaving.page.getByLabel('Token').waitFor()
      await leaving.context.addCookies([cookie as NonNullable<typeof cookie>])
      expect(await statusOf(leaving, 'GET', '/-/me')).toBe(401)
      await leaving.context.close()
    })

    test('another page can neither read nor change anything, nor show it in a frame', async () => {
      const { context } = operator
      const foreign = await context.newPage()
      await foreign.goto(sample.origin.replace('127.0.0.1', 'localhost'))
      const answers = await foreign.evaluate(
        async ([origin, id]) => {
          const post = (headers: Record<string, string>) =>
            fetch(`${origin}/-/api/jobs/${id}/retry`, { method: 'POST', credentials: 'include', headers, body: '{}' }).then(
              (answer) => answer.status,
              () => 'refused',
            )
          return [
            await post({ 'content-type': 'application/json', 'x-treadle': '1' }),
            await fetch(`${origin}/-/me`, { credentials: 'include' }).then(
              () => 'read',
              () => 'refused',
            ),
          ]
        },
        [sample.origin, sample.ids.evil],
      )
      expect(answers).toEqual(['refused', 'refused'])
      await foreign.close()
      const shell = await fetch(`${sample.origin}/`)
      expect(shell.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      const forged = await fetch(`${sample.origin}/-/me`, { headers: { 'sec-fetch-site': 'cross-site' } })
      expect(forged.status).toBe(403)
    })

    test.runIf(engine === 'sqlite').each([
      [360, 'dark'],
      [3840, 'light'],
    ] as const)('every page fits into %d pixels', async (width, theme) => {
      const shown = await browser.open({ width, theme })
      await signIn(shown, sample, token)
      for (const path of [...(width === 360 ? pages : pages.slice(0, 5)), `/jobs/${sample.ids.evil}`]) {
        await shown.page.goto(sample.origin + path)
        await shown.page.locator('main h1').first().waitFor({ state: 'attached' })
        await shown.page.locator('.loading').first().waitFor({ state: 'detached' })
        expect(await shown.page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBeLessThanOrEqual(0)
      }
      expect(await accessibilityProblems(shown.page)).toEqual([])
      expect(shown.complaints).toEqual([])
      await shown.page.goto(`${sample.origin}/schedules?view=day`)
      const name = shown.page.locator('.calendar').getByRole('link', { name: 'digest' })
      await name.waitFor()
      expect((await name.boundingBox())?.x, 'names stay in sight beside the hours').toBeGreaterThanOrEqual(0)
      await shown.context.close()
    })
  })
})

async function signIn({ page }: Opened, { origin }: Sample, secret: string): Promise<void> {
  await page.goto(`${origin}/login`)
  await page.getByLabel('Token').fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}

function statusOf({ page }: Opened, method: string, path: string): Promise<number> {
  return page.evaluate(
    async ([verb, address]) =>
      (
        await fetch(address as string, {
          method: verb as string,
          headers: { 'content-type': 'application/json', 'x-treadle': '1' },
        })
      ).status,
    [method, path],
  )
}
