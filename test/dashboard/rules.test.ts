import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DurationHistogram } from '../../src/queue/statistics/duration-histogram.ts'
import { everything, Grant } from '../../src/server/access/grant.ts'
import type { ViewDeps } from '../../src/server/dashboard/deps.ts'
import { layoutOf } from '../../src/server/dashboard/page/components/graph-layout.ts'
import { distance, momentOf, parseFilter, writeFilter } from '../../src/server/dashboard/shared/filter.ts'
import { readJson, writeTree } from '../../src/server/dashboard/shared/json-tree.ts'
import { normalMessage } from '../../src/server/dashboard/views/dead/error-key.ts'
import { Redaction } from '../../src/server/dashboard/views/jobs/redaction.ts'
import { queueList } from '../../src/server/dashboard/views/queues.ts'
import { verdictOf } from '../../src/server/dashboard/views/verdict.ts'

const seed = 20_261_117

describe('a filter', () => {
  test('is conditions, each perhaps of several values, and words', () => {
    const parsed = parseFilter('state:dead,ready -queue:low error:"not found, sorry" payload.a.b:1 attempts:>2 hello')
    expect(parsed.terms).toEqual([
      { key: 'state', negated: false, values: ['dead', 'ready'] },
      { key: 'queue', negated: true, values: ['low'] },
      { key: 'error', negated: false, values: ['not found, sorry'] },
      { key: 'payload', negated: false, values: ['1'], path: ['a', 'b'] },
      { key: 'attempts', negated: false, values: ['>2'] },
      { key: 'text', negated: false, values: ['hello'] },
    ])
  })

  test.each([
    ['stat:dead', 'There is no filter "stat:". Did you mean "state"?'],
    ['state:deed', 'There is no state "deed". Did you mean "dead"?'],
    ['since:yesterday', 'since: is an instant such as 2026-11-17T14:00Z, or how long ago, such as 24h, not "yesterday"'],
    ['attempts:many', 'attempts: is a number, perhaps after < or >, not "many"'],
    ['label:a', 'There is no filter "label:"'],
    ['job:', 'job: needs a value'],
    ['tag:a\0b', 'cannot contain the character U+0000'],
  ])('%s is refused', (text, message) => {
    expect(parseFilter(text).problems?.[0]?.message).toContain(message)
  })

  test('that is written is read as the same', () => {
    const value = fc
      .string({ minLength: 1, maxLength: 20 })
      .filter((text) => text.trim() === text && text !== '' && !/\\/.test(text))
    const term = fc.record({
      key: fc.constantFrom('job' as const, 'queue' as const, 'error' as const),
      negated: fc.boolean(),
      values: fc.array(value, { minLength: 1, maxLength: 3 }),
    })
    fc.assert(
      fc.property(fc.array(term, { minLength: 1, maxLength: 5 }), (terms) => {
        expect(parseFilter(writeFilter(terms)).terms).toEqual(terms)
      }),
      { seed },
    )
  })

  test('reads instants and spans', () => {
    expect(momentOf('24h', 86_400_000)).toBe(0)
    expect(momentOf('2026-11-17T14:00:00Z', 0)).toBe(Date.UTC(2026, 10, 17, 14))
    expect(distance('kitten', 'sitting')).toBe(3)
  })
})

describe('JSON that is shown', () => {
  test('keeps every digit and the order of members', () => {
    const text = '{"b":9007199254740993123,"a":[1.50,true,null,"\\u0041"],"b":{}}'
    expect(writeTree(readJson(text) as NonNullable<ReturnType<typeof readJson>>)).toBe(
      '{"b":9007199254740993123,"a":[1.50,true,null,"A"],"b":{}}',
    )
    expect(readJson('{"a":')).toBeNull()
    expect(readJson(`${'['.repeat(500)}${']'.repeat(500)}`)).toBeNull()
  })

  test('is the same value, whatever it is', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(writeTree(readJson(text) as NonNullable<ReturnType<typeof readJson>>))).toEqual(JSON.parse(text))
      }),
      { seed },
    )
  })

  test('hides what is secret, at any depth', () => {
    const text = new Redaction({ redact: ['ssn'] }).text(
      '{"user":{"Password":"a","apiKey":"b","list":[{"ssn":"c"}]},"amount":12345678901234567890}',
    )
    expect(text).toBe(
      '{"user":{"Password":"•••• redacted","apiKey":"•••• redacted","list":[{"ssn":"•••• redacted"}]},"amount":12345678901234567890}',
    )
  })
})

describe('errors of one group', () => {
  test.each([
    ['connect ECONNREFUSED 10.0.0.7:5432', 'connect ECONNREFUSED ‹ip›:‹n›'],
    ['Job 0192f3a1-0000-7000-8000-000000000001 took 31 ms', 'Job ‹id› took ‹n› ms'],
    ['no user "ada" at https://example.com/users?id=7', 'no user ‹text› at ‹url›'],
    ["ENOENT: open '/var/lib/a.txt'", 'ENOENT: open ‹text›'],
    ['mail to ada@example.com failed in /srv/app/mail.ts', 'mail to ‹address› failed in ‹path›'],
  ])('%s', (message, normal) => {
    expect(normalMessage(message)).toBe(normal)
  })
})

describe('a histogram', () => {
  test('added to another one is the histogram of both', () => {
    const times = fc.array(fc.integer({ min: 0, max: 10_000_000 }), { maxLength: 50 })
    fc.assert(
      fc.property(times, times, (a, b) => {
        const [first, second, both] = [new DurationHistogram(), new DurationHistogram(), new DurationHistogram()]
        for (const ms of a) first.add(ms)
        for (const ms of b) second.add(ms)
        for (const ms of [...a, ...b]) both.add(ms)
        first.merge(second.counts)
        expect(first.counts).toEqual(both.counts)
        expect(first.percentile(0.95)).toBe(both.percentile(0.95))
      }),
      { seed },
    )
  })

  test('estimates within the bounds that a value lies in', () => {
    const histogram = new DurationHistogram()
    for (let ms = 1; ms <= 1_000; ms++) histogram.add(ms)
    const [p50, p95] = [histogram.percentile(0.5), histogram.percentile(0.95)]
    expect(p50).toBeGreaterThan(400)
    expect(p50).toBeLessThanOrEqual(500)
    expect(p95).toBeGreaterThan(900)
  })
})

describe('a graph', () => {
  test('has every job behind all that it waits for, and no two in one place', () => {
    const edges = fc.integer({ min: 2, max: 30 }).chain((nodes) =>
      fc.tuple(
        fc.constant(nodes),
        fc.array(
          fc
            .tuple(fc.nat(nodes - 2), fc.nat(nodes - 1))
            .map(([from, by]) => [from, Math.min(nodes - 1, from + 1 + (by % (nodes - from - 1 || 1)))] as const),
          { maxLength: 60 },
        ),
      ),
    )
    fc.assert(
      fc.property(edges, ([nodes, pairs]) => {
        const { places, bends } = layoutOf(nodes, pairs)
        for (const [from, to] of pairs) expect(places[from]?.layer).toBeLessThan(places[to]?.layer ?? 0)
        expect(new Set(places.map(({ layer, row }) => `${layer} ${row}`)).size).toBe(nodes)
        expect(bends).toHaveLength(pairs.length)
      }),
      { seed },
    )
  })
})

describe('the verdict', () => {
  const counts = { ready: 0, scheduled: 0, blocked: 0, running: 0, succeeded: 0, dead: 0, cancelled: 0, skipped: 0 }
  const well = { now: 1_000_000, counts: [], paused: [], pausedJobs: [], workers: [], schedules: [], recent: null, deadInHour: 0 }
  const worker = {
    owner: 'a',
    host: 'a',
    pid: 1,
    version: '1',
    startedAt: 0,
    seenAt: 0,
    expiresAt: 0,
    queues: null,
    jobs: ['a'],
    concurrency: 1,
    allowed: 1,
    running: 0,
    breaker: 'closed',
    follows: true,
    lastTickAt: 0,
  } as const

  test('is silent where all is well', () => {
    expect(verdictOf(well)).toEqual([])
  })

  test.each([
    [
      'no worker runs',
      { counts: [{ queue: 'q', job: 'a', counts: { ...counts, ready: 3 }, oldestReadyAt: 0 }] },
      '3 jobs are ready, and no worker is running',
    ],
    [
      'nobody has the handler',
      { workers: [worker], counts: [{ queue: 'q', job: 'b', counts: { ...counts, ready: 1 }, oldestReadyAt: 0 }] },
      '1 job of "b" in the queue "q" waits, and no worker has a handler for it',
    ],
    ['a breaker is open', { workers: [{ ...worker, breaker: 'open' as const }] }, '1 of 1 workers claim no jobs'],
    [
      'jobs wait for long',
      { workers: [worker], counts: [{ queue: 'q', job: 'a', counts: { ...counts, ready: 1 }, oldestReadyAt: 100_000 }] },
      'The oldest job of the queue "q" has been ready for 15 min',
    ],
    [
      'many attempts fail',
      { recent: { minutes: 5, done: 50, failed: 50, wait: null, run: null, pairs: [] } },
      '50 % of the attempts of the last five minutes failed',
    ],
    ['jobs died', { deadInHour: 2 }, '2 jobs failed for good in the last hour'],
  ])('tells that %s', (_, facts, text) => {
    expect(verdictOf({ ...well, ...facts })[0]?.text).toContain(text)
  })

  test('tells of many names without a handler together, with how many they are', () => {
    const without = Array.from({ length: 10_000 }, (_, n) => {
      return { queue: 'q', job: `entity/${n}`, counts: { ...counts, ready: n === 7 ? 5 : 1 }, oldestReadyAt: 0 }
    })
    const lines = verdictOf({ ...well, workers: [worker], counts: without }).filter(({ level }) => level === 'problem')
    expect(lines.map(({ text }) => text)).toEqual([
      '10,004 jobs of 10,000 names wait, and no worker has a handler for them: for example "entity/7" in the queue "q"',
    ])
  })

  test('tells of the jobs that wait for long beside those that nobody can run, and how many queues are late', () => {
    const late = (queue: string, job: string, oldestReadyAt: number) => {
      return { queue, job, counts: { ...counts, ready: 1 }, oldestReadyAt }
    }
    const waiting = [late('mail', 'a', 100_000), late('other', 'unknown', 0), late('slow', 'a', 200_000)]
    expect(verdictOf({ ...well, workers: [worker], counts: waiting }).map(({ text }) => text)).toEqual([
      '1 job of "unknown" in the queue "other" waits, and no worker has a handler for it',
      'The oldest job of the queue "mail" has been ready for 15 min; one more queue is late',
    ])
  })

  test.each([
    ['queue', { paused: ['q'] }],
    ['job', { pausedJobs: ['a'] }],
  ])('leaves a paused %s alone', (_, pausing) => {
    expect(
      verdictOf({
        ...well,
        ...pausing,
        counts: [{ queue: 'q', job: 'a', counts: { ...counts, ready: 3 }, oldestReadyAt: 0 }],
      }),
    ).toEqual([])
  })
})

describe('the outlook of a queue', () => {
  const listOf = async (ready: number, flow: { readonly in: number; readonly out: number }, grant = everything) => {
    const counts = { ready, scheduled: 0, blocked: 0, running: 3, succeeded: 0, dead: 0, cancelled: 0, skipped: 0 }
    const deps = {
      snapshots: { counts: async () => [{ queue: 'mail', job: 'send', counts }], paused: async () => [] },
      flows: { of: () => flow },
      service: { queue: { settings: { queueLimits: [] } } },
    }
    const viewer = { user: null, grant, canLogOut: false }
    const { queues } = await queueList(deps as unknown as ViewDeps, viewer)
    return queues.map(({ growingBy, emptyInMs, inRate, outRate }) => ({ growingBy, emptyInMs, inRate, outRate }))
  }

  test('is that it grows only where jobs wait', async () => {
    expect(await listOf(10, { in: 180, out: 175 })).toMatchObject([{ growingBy: 5, emptyInMs: null }])
    expect(await listOf(0, { in: 180, out: 175 })).toMatchObject([{ growingBy: null, emptyInMs: null }])
  })

  test('is when it is empty', async () => {
    expect(await listOf(10, { in: 100, out: 105 })).toMatchObject([{ growingBy: null, emptyInMs: 120_000 }])
  })

  test('is unknown to a viewer who may see only some of its jobs', async () => {
    const unknown = { growingBy: null, emptyInMs: null, inRate: null, outRate: null }
    expect(await listOf(10, { in: 180, out: 175 }, new Grant('read', { jobs: ['se*'] }))).toEqual([unknown])
    expect(await listOf(10, { in: 180, out: 175 }, new Grant('read', { queues: ['mail'] }))).toMatchObject([{ inRate: 180 }])
  })
})

describe('the scripts', () => {
  test('of the first paint are less than 50 KB compressed', () => {
    const folder = new URL('../../dist/server/dashboard/page/', import.meta.url)
    const { script, theme, preload } = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8'))
    const bytes = [script, theme, ...preload].reduce(
      (sum: number, name: string) => sum + readFileSync(new URL(`${name}.gz`, folder)).length,
      0,
    )
    expect(bytes).toBeLessThan(50 * 1024)
  })
})
