import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { dashboard } from '../../dist/server/dashboard/index.js'
import type { OverviewView } from '../../src/server/dashboard/shared/views/overview.ts'

const headers = { 'sec-fetch-site': 'same-origin' }

describe('the charts', () => {
  test('are of all programs that work, and are still there when the one that shows them was started anew', async () => {
    const url = `sqlite:${join(mkdtempSync(join(tmpdir(), 'treadle-charts-')), 'jobs.db')}`
    const opened = () => treadle(url, { signingKey: 'a-key-for-the-test-of-the-charts-only' })
    for (const queue of ['mail', 'money']) {
      await using jobs = opened()
      jobs.define('send', (n: number) => {
        if (n === 0) throw new Error('no')
      })
      for (const n of [0, 1, 2]) await jobs.dispatch('send', n, { queue })
      await jobs.run()
    }
    for (let start = 0; start < 2; start++) {
      await using jobs = opened()
      const [all, mail] = [await overview(jobs), await overview(jobs, ['mail'])]
      expect([ends(all), all.rates.failedShare]).toEqual([{ done: 4, dead: 2 }, 2 / 6])
      expect([ends(mail), mail.busiest.map(({ queue, job }) => [queue, job])]).toEqual([{ done: 2, dead: 1 }, [['mail', 'send']]])
      expect(all.rates.run).not.toBeNull()
      expect(all.series.isKept).toBe(true)
    }
  })
})

test('the overview counts all that died in the last hour, and not only those that it reads', async () => {
  const url = `sqlite:${join(mkdtempSync(join(tmpdir(), 'treadle-charts-')), 'jobs.db')}`
  const opened = () => treadle(url, { signingKey: 'a-key-for-the-test-of-the-charts-only' })
  {
    await using jobs = opened()
    jobs.define('charge', () => {
      throw new Error('The card was declined')
    })
    await jobs.dispatchMany(
      'charge',
      Array.from({ length: 130 }, (_, n) => n),
    )
    await jobs.run()
  }
  await using jobs = opened()
  const { rates, verdict } = await overview(jobs)
  expect(rates.deadInHour).toBe(130)
  expect(verdict.map(({ text }) => text)).toContain('130 jobs failed for good in the last hour')
})

async function overview(jobs: Treadle, queues?: readonly string[]): Promise<OverviewView> {
  await using shown = dashboard(jobs, { authorize: () => ({ role: 'read', ...(queues !== undefined && { queues }) }) })
  const answer = await shown.fetch(new Request('http://localhost/-/view?topic=overview:1d', { headers }))
  return ((await answer.json()) as { readonly data: OverviewView }).data
}

function ends({ series: { points } }: OverviewView): { readonly done: number; readonly dead: number } {
  const sum = (what: 'done' | 'dead') => points.reduce((total, point) => total + point[what], 0)
  return { done: sum('done'), dead: sum('dead') }
}
