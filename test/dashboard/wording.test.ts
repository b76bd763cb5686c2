import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { nextRunOf } from '../../src/app/schedules/next-run.ts'
import { treadle } from '../../src/index.ts'
import { fullestFirst, type Totals, totalsOf } from '../../src/queue/contract/queue-counts.ts'
import { parseCron } from '../../src/scheduling/calendar/cron/cron.ts'
import { sentenceOf } from '../../src/server/dashboard/page/job/sentence.ts'

const at = (iso: string) => Date.parse(iso)

describe('a reason', () => {
  const written = (instant: number) => `<${new Date(instant).getUTCHours()} h>`

  test('is a sentence, with its instant in the zone of the page', () => {
    const reason = 'it failed for good at 2026-11-19T14:17:19.843Z: refused. `treadle retry` puts it back'
    expect(sentenceOf(reason, written)).toEqual([
      { said: 'It failed for good at <14 h>: refused. Retry puts it back.', isCommand: false },
    ])
  })

  test('names commands, and takes nothing of an error for one', () => {
    const reason = 'it failed for good at 2026-11-19T14:17:19Z: `rm` at 2026-01-01T00:00:00Z. Run `treadle work` again'
    expect(sentenceOf(reason, written)).toEqual([
      { said: 'It failed for good at <14 h>: `rm` at 2026-01-01T00:00:00Z. Run ', isCommand: false },
      { said: 'treadle work', isCommand: true },
      { said: ' again.', isCommand: false },
    ])
  })

  test('leaves out the middle of an endless error', () => {
    const [said] = sentenceOf(`it failed for good: ${'x'.repeat(5_000)}. \`treadle retry\` puts it back`, written)
    expect(said?.said).toMatch(/^It failed for good: x+ … x+\. Retry puts it back\.$/)
    expect(said?.said.length).toBeLessThan(400)
  })
})

describe('the next run of a schedule in the code', () => {
  const schedule = parseCron('30 2 * * *', 'UTC')
  const record = { expression: schedule.expression, timezone: schedule.timezone, nextAt: at('2026-11-19T02:30:00Z') }
  const now = at('2026-11-19T08:00:00Z')

  test('is the one that no scheduler has stored yet, although it is due', () => {
    expect(nextRunOf(schedule, record, now)).toBe(record.nextAt)
  })

  test('is calculated if the code has changed since', () => {
    const tomorrow = at('2026-11-20T02:30:00Z')
    expect(nextRunOf(schedule, { ...record, expression: '0 0 3 * * *' }, now)).toBe(tomorrow)
    expect(nextRunOf(schedule, { ...record, timezone: 'Asia/Tokyo' }, now)).toBe(tomorrow)
    expect(nextRunOf(schedule, null, now)).toBe(tomorrow)
  })
})

test('the fullest queue is first, and numbers in names count as numbers', () => {
  const full: Totals = { ...totalsOf([]), counts: { ...totalsOf([]).counts, scheduled: 3 } }
  const names = ['tenant-10', 'mail', 'tenant-2', 'mail', 'tenant-1']
  expect(fullestFirst(names, new Map([['tenant-2', full]]))).toEqual(['tenant-2', 'mail', 'tenant-1', 'tenant-10'])
})

describe('the code that an empty page shows', () => {
  const folder = fileURLToPath(new URL('../../src/server/dashboard/page/', import.meta.url))
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tsx'))
  const shown = sources.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/<Code>\{(["`])(.*jobs\..*)\1\}<\/Code>/g)].map(
      ([, , code]) => code as string,
    ),
  )

  test('is found', () => expect(shown.length).toBeGreaterThanOrEqual(5))

  test.each(shown)('%s runs', async (code) => {
    const jobs = treadle('memory:')
    const step = jobs.define('step', async (_: unknown) => {})
    const send = Object.assign(async () => {}, { step: step.step.bind(step) })
    const { code: script } = await transform(`async (jobs, send, render) => { ${code} }`, { loader: 'ts' })
    await new Function(`return ${script}`)()(jobs, send, step)
    await jobs.close()
  })
})
