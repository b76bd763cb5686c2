import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { accessibilityProblems, hasBrowser, type Opened, useBrowser } from './browser.ts'
import { type Mounted, mounted, silent, visit } from './mounted.ts'

const many = 5_000
const long = 300

describe.skipIf(!hasBrowser)('the page of a workflow', () => {
  const browser = useBrowser()
  let jobs: Treadle
  let shown: Mounted
  let opened: Opened

  beforeAll(async () => {
    jobs = treadle('memory:', { logger: silent })
    shown = await mounted(jobs)
    opened = await browser.open()
  })
  afterAll(async () => {
    await opened?.context.close()
    await shown?.[Symbol.asyncDispose]()
    await jobs?.close()
  })

  const visitFlow = (root: string, rest = '') => visit(opened.page, `${shown.origin}/workflows/${root}${rest}`)

  test(`of ${many} jobs counts all of them, draws equal ones as one, and says that it shows the newest`, async () => {
    const { page } = opened
    const send = jobs.define('send', async () => {})
    const batch = await jobs.batch(
      Array.from({ length: many }, (_, n) => send.step({ n })),
      { onComplete: jobs.declare('report').step({}) },
    )
    await visitFlow(batch.id)
    await page.getByText(`0 of ${(many + 1).toLocaleString('en')} · 0 failed`).waitFor()
    await page.getByText('Only its newest 500 jobs are shown.').waitFor()
    expect(await page.locator('.graph .node').count()).toBeLessThan(10)
    await jobs.run({ limit: 100 })
    await page.getByText(/^100 of 5,001/).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await batch.cancel()
  })

  test(`that is a chain of ${long} is drawn from left to right, and moves as its jobs end`, async () => {
    const { page } = opened
    const step = jobs.define('step', async () => {})
    const chain = await jobs.chain(Array.from({ length: long }, () => step.step({})) as [ReturnType<typeof step.step>])
    await visitFlow(chain.id)
    expect(await page.locator('.graph .node').count()).toBe(long)
    expect(await page.locator('.graph .edge').count()).toBe(long - 1)
    const first = page.locator('.graph .node').first()
    expect(await first.getAttribute('class')).toContain('state-ready')
    await jobs.run({ limit: 1 })
    await page.locator('.graph .node.state-succeeded').first().waitFor()
    expect(await page.locator('.graph .node').count()).toBe(long)
    await chain.cancel()
  })

  test('that is a diamond draws both ways to its end', async () => {
    const { page } = opened
    const building = jobs.workflow()
    const step = (name: string) => jobs.declare(name).step({})
    const top = building.add(step('top'))
    const sides = [building.add(step('left'), { after: top }), building.add(step('right'), { after: top })]
    building.add(step('end'), { after: sides })
    const flow = await building.dispatch()
    await visitFlow(flow.id)
    for (const name of ['top', 'left', 'right', 'end']) await page.getByRole('link', { name: new RegExp(`^${name}`) }).waitFor()
    expect(await page.locator('.graph .edge').count()).toBe(4)
    await flow.cancel()
  })

  test('retries only what failed and cancels only what has not ended, and says how many that are', async () => {
    const { page } = opened
    let isDown = true
    const fetchPage = jobs.define('fetch-page', async () => {})
    const parse = jobs.define('parse', async () => {
      if (isDown) throw new Error('The parser is down')
    })
    const store = await jobs.store()
    const flow = await jobs.batch([
      fetchPage.step({}),
      fetchPage.step({}),
      parse.step({}),
      parse.step({}),
      jobs.declare('later').step({}),
    ])
    await jobs.run()
    await visitFlow(flow.id)
    await page.getByText('4 of 5 · 2 failed').waitFor()
    isDown = false
    await page.getByRole('button', { name: 'Retry failed' }).click()
    await page.getByRole('button', { name: 'Retry 2 jobs' }).click()
    await page.getByText('2 jobs put back').waitFor()
    await jobs.run()
    await page.getByText('4 of 5 · 0 failed').waitFor()
    expect((await store.list({ job: 'fetch-page', limit: 10 })).map(({ attempts }) => attempts)).toEqual([1, 1])
    await page.getByRole('button', { name: 'Cancel …' }).click()
    await page.getByText('1 of its jobs has not ended.').waitFor()
    await page.getByRole('button', { name: 'Cancel the workflow' }).click()
    await page.getByText('1 cancelled, 0 asked to stop.').waitFor()
    await page.getByText('5 of 5 · 0 failed').waitFor()
  })

  test('whose jobs are deleted says that, and nothing else breaks', async () => {
    const { page } = opened
    const step = jobs.define('passing', async () => {})
    const flow = await jobs.chain([step.step({}), step.step({})])
    await jobs.run()
    const store = await jobs.store()
    await visitFlow(flow.id)
    await page.getByText('2 of 2 · 0 failed').waitFor()
    while ((await store.remove({ state: 'succeeded', limit: 1_000 })) > 0);
    await page.getByText(/its jobs are deleted already/).waitFor()
    await visitFlow(flow.id)
    await page.getByText(/its jobs are deleted already/).waitFor()
    expect(opened.complaints).toEqual([])
  })
})
