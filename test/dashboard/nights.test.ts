import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { hasBrowser, type Opened, useBrowser } from './browser.ts'
import { type Mounted, mounted, silent, visit } from './mounted.ts'

/** Nights in which clocks change: by an hour at two, at midnight, and by half an hour. */
const nights = [
  { zone: 'Europe/Paris', noon: '2027-03-28T10:00Z', hours: 23, time: '02:30', shown: '03:00', note: 'is skipped on this day' },
  { zone: 'Europe/Paris', noon: '2027-10-31T11:00Z', hours: 25, time: '02:30', shown: '02:30', note: 'comes twice on this day' },
  {
    zone: 'America/Santiago',
    noon: '2027-09-05T15:00Z',
    hours: 23,
    time: '00:30',
    shown: '01:00',
    note: 'is skipped on this day',
  },
  {
    zone: 'America/Santiago',
    noon: '2027-04-03T15:00Z',
    hours: 25,
    time: '23:30',
    shown: '23:30',
    note: 'comes twice on this day',
  },
  {
    zone: 'Australia/Lord_Howe',
    noon: '2027-10-03T01:00Z',
    hours: 23,
    time: '02:15',
    shown: '02:30',
    note: 'is skipped on this day',
  },
  {
    zone: 'Australia/Lord_Howe',
    noon: '2027-04-04T01:30Z',
    hours: 24,
    time: '01:45',
    shown: '01:45',
    note: 'comes twice on this day',
  },
]

describe.skipIf(!hasBrowser)('a night in which clocks change', () => {
  const browser = useBrowser()
  let jobs: Treadle
  let shown: Mounted
  let opened: Opened

  beforeAll(async () => {
    jobs = treadle('memory:', { logger: silent })
    for (const zone of new Set(nights.map((night) => night.zone)))
      jobs
        .define(`hourly in ${zone}`, async () => {})
        .cron('0 * * * *')
        .timezone(zone)
    for (const { zone, time } of new Map(nights.map((night) => [`${night.time} in ${night.zone}`, night])).values())
      jobs
        .define(`${time} in ${zone}`, async () => {})
        .dailyAt(time)
        .timezone(zone)
    shown = await mounted(jobs)
    opened = await browser.open()
    await visit(opened.page, `${shown.origin}/schedules`)
  })
  afterAll(async () => {
    await opened?.context.close()
    await shown?.[Symbol.asyncDispose]()
    await jobs?.close()
  })

  test.each(nights)(
    'in $zone has $hours hours, and says what becomes of $time: it $note',
    async ({ zone, noon, hours, time, shown: told, note }) => {
      const { page } = opened
      await page.evaluate(`localStorage.setItem('treadle-zone', '${zone}')`)
      await visit(page, `${shown.origin}/schedules?view=day&at=${Date.parse(noon)}`)
      const marksOf = (name: string) =>
        page.locator('.calendar-row', { has: page.getByRole('link', { name, exact: true }) }).locator('.run-mark')
      await marksOf(`hourly in ${zone}`).first().waitFor()
      expect(await marksOf(`hourly in ${zone}`).count()).toBe(hours)
      expect(await marksOf(`${time} in ${zone}`).count()).toBe(1)
      const title = await marksOf(`${time} in ${zone}`).getAttribute('title')
      expect(title).toContain(`, ${told}: ${time} ${note}`)
      expect(opened.complaints).toEqual([])
    },
  )
})
