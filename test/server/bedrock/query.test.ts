import { treadle } from 'treadle'
import { openMemory } from 'treadle/memory'
import { serve } from 'treadle/server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { systemClock } from '../../../src/core/time/clock.ts'
import type { JobRecord } from '../../../src/queue/contract/store.ts'
import { QueryLine } from '../../../src/server/bedrock/jobs/query-line.ts'
import { everyJob, narrowingOf } from '../../../src/server/bedrock/query/narrowing.ts'
import { gate } from '../../world.ts'
import { requestText, type Told } from './served.ts'
import { type WireClient, wireClient } from './wire.ts'

/** A built server, for it starts processes, on a queue whose reads are counted. */
async function served() {
  const backend = openMemory({ clock: systemClock })
  const read: JobRecord[] = []
  const { store } = backend
  const list = store.list.bind(store)
  const get = store.get.bind(store)
  Object.assign(store, {
    list: async (...given: Parameters<typeof list>) => {
      const page = await list(...given)
      read.push(...page)
      return page
    },
    get: async (id: string) => {
      const record = await get(id)
      if (record !== null) read.push(record)
      return record
    },
  })
  const jobs = treadle('memory:', { backend, logger: silentLogger })
  const server = await serve(jobs, { port: 0, httpPort: null })
  onTestFinished(async () => {
    await server.stop({ graceMs: 0 })
    await jobs.close()
  })
  const client = await wireClient(server.address?.port as number)
  const ask = async (query: string) => {
    read.length = 0
    return askOf(client, query)
  }
  return { client, ask, read, port: server.address?.port as number }
}

async function askOf(client: WireClient, query: string): Promise<Pick<Told, 'status' | 'body'>> {
  client.send(requestText('Query', { query }))
  const reply = await client.reply()
  const [head = ''] = reply.split('\r\n\r\n', 1)
  return { status: head.split('\r\n')[0] as string, body: reply.slice(head.length + 4) }
}

async function create(client: WireClient, jobs: readonly object[]): Promise<void> {
  for (let at = 0; at < jobs.length; at += 500) {
    client.send(requestText('CreateJobs', { jobs: jobs.slice(at, at + 500) }))
    await client.reply()
  }
}

describe('Query', () => {
  test('reads no more jobs than it is asked for', async () => {
    const { client, ask, read } = await served()
    await create(
      client,
      Array.from({ length: 5_000 }, (_, index) => ({ name: index < 3 ? `few/${index}` : 'many', data: { index } })),
    )
    for (const [query, answer, reads] of [
      ['SELECT name FROM jobs WHERE jobID = 2;', 'name\nfew/1\n', 1],
      [
        "SELECT name FROM jobs WHERE priority > 1 AND jobID IN (1, 2, 3, 99999) AND state = 'QUEUED';",
        'name\nfew/0\nfew/1\nfew/2\n',
        3,
      ],
      ["SELECT jobID FROM jobs WHERE name = 'few/2';", 'jobID\n3\n', 1],
      ["SELECT jobID FROM jobs WHERE name LIKE 'FEW%' ORDER BY jobID DESC;", 'jobID\n3\n2\n1\n', 3],
      ["SELECT jobID FROM jobs WHERE name GLOB 'few/*' AND jobID > 1;", 'jobID\n2\n3\n', 3],
      ["SELECT count(*) FROM jobs WHERE state IN ('FAILED', 'RUNNING');", 'count(*)\n0\n', 0],
      ["SELECT count(*) FROM jobs WHERE state = 'nonsense';", 'count(*)\n0\n', 0],
      ["SELECT jobID, name FROM jobs WHERE name = 'none' LIMIT 5;", '', 0],
      ["SELECT count(*) FROM jobs WHERE name = 'few/1' OR jobID = 1;", 'count(*)\n2\n', 5_000],
      ['SELECT count(*) FROM jobs WHERE jobID = (SELECT max(jobID) FROM jobs);', 'count(*)\n1\n', 5_000],
    ] as const) {
      expect([query, await ask(query), read.length]).toEqual([query, { status: '200 OK', body: answer }, reads])
    }
    expect((await ask("SELECT name FROM jobs WHERE name = 'many' LIMIT 5;")).body.split('\n')).toHaveLength(7)
    expect(read.length).toBeLessThanOrEqual(10)
  })

  test('shows each column and each value as SQLite does', async () => {
    const { client, ask } = await served()
    await create(client, [{ name: 'a' }, { name: 'b', data: { n: 1 } }])
    for (const [query, body] of [
      ['SELECT jobID, jobID, name AS jobID FROM jobs WHERE jobID = 2;', 'jobID|jobID|jobID\n2|2|b\n'],
      ['SELECT a.name, b.name FROM jobs a JOIN jobs b ON a.jobID < b.jobID;', 'name|name\na|b\n'],
      ['SELECT avg(priority), 2.5, 1e15, 1e999, -0.00001, 1.0 / 3 FROM jobs LIMIT 1;', null],
      ['SELECT 9223372036854775807 AS n, NULL AS missing;', 'n|missing\n9223372036854775807|\n'],
      ["SELECT CAST('ü' AS BLOB) AS b;", 'b\nü\n'],
      ['/* a; comment */ SELECT 1 AS n;', 'n\n1\n'],
      ["SELECT ';' AS n; SELECT 2;", 'n\n;\n'],
    ] as const) {
      const answer = await ask(query)
      const [, row] = answer.body.split('\n')
      if (body === null) expect(row).toBe('500.0|2.5|1.0e+15|Inf|-1.0e-05|0.333333333333333')
      else expect([query, answer]).toEqual([query, { status: '200 OK', body }])
    }
  })

  test('shows a person who types `SELECT *` the columns that the documentation shows', async () => {
    const { client } = await served()
    await create(client, [{ name: 'a', firstRun: '2026-03-01', repeat: 'hourly', retryAfter: '+1 HOUR' }])
    const typed = async (query: string) => {
      client.send(`Query: ${query}\n\n`)
      return (await client.reply()).split('\r\n\r\n')[1]?.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/m, 'TIME')
    }
    const columns = 'created | jobID | state | name | nextRun | lastRun | repeat | data | priority | parentJobID'
    const row = 'TIME | 1 | QUEUED | a | 2026-03-01 00:00:00 |  | HOURLY | {} | 500 | 0'
    expect(await typed('SELECT * FROM jobs;')).toBe(`${columns}\n${row}\n`)
    expect(await typed('SELECT *, 1 AS n FROM jobs;')).toBe(`${columns} | n\n${row} | 1\n`)
    expect(await typed('SELECT RetryAfter FROM jobs;')).toBe('retryAfter\n+1 HOUR\n')
    expect(await typed("SELECT * FROM jobs WHERE retryAfter LIKE '+1%';")).toContain('| retryAfter\n')
  })

  test('is refused as a whole if any of its statements writes', async () => {
    const { client, ask } = await served()
    await create(client, [{ name: 'a' }])
    for (const query of [
      'DELETE FROM jobs;',
      'SELECT 1; DELETE FROM jobs;',
      "SELECT '--'; /* ; */ UPDATE jobs SET name = 'b' WHERE jobID = 1;",
      '-- SELECT;',
      ';',
      'PRAGMA query_only = OFF;',
      'WITH t AS (SELECT 1) DELETE FROM jobs;',
      `${'['.repeat(500_000)}${"'".repeat(500_001)};`,
    ]) {
      const { status, body } = await ask(query)
      expect([query, status, body]).toEqual([query, '402 Bad query', expect.stringMatching(/only SELECT is allowed|readonly/)])
    }
    expect((await ask('SELECT count(*) AS n FROM jobs;')).body).toBe('n\n1\n')
  })

  test('writes its rows as the flags of the command-line shell of SQLite ask', async () => {
    const { client } = await served()
    await create(client, [{ name: 'a "b", c' }, { name: '12' }])
    const asked = async (headers: object) => {
      client.send(requestText('Query', { query: 'SELECT jobID, name FROM jobs;', ...headers }))
      const reply = await client.reply()
      return reply.slice(reply.indexOf('\r\n\r\n') + 4)
    }
    expect(await asked({})).toBe('jobID|name\n1|a "b", c\n2|12\n')
    expect(await asked({ SQLiteArgs: '-json' })).toBe('[{"jobID":1,"name":"a \\"b\\", c"},{"jobID":2,"name":12}]\n')
    expect(await asked({ ReadDBFlags: '-csv -noheader' })).toBe('1,"a ""b"", c"\n2,12\n')
    expect(await asked({ ReadDBFlags: '-noheader' })).toBe('1|a "b", c\n2|12\n')
    const columns = "SELECT 1 AS number, 'two' || char(10) || 'lines' AS text, 'é' AS e;"
    const lines = ['number  text   e', '------  -----  -', '1       two    é', '        lines   ', '']
    expect(await asked({ query: columns, SQLiteArgs: '-column' })).toBe(lines.join('\n'))
    expect(await asked({ query: columns, SQLiteArgs: '-column -noheader' })).toBe(lines.slice(2).join('\n'))
    expect(await asked({ ReadDBFlags: '-table' })).toMatch('the flag -table is not one of -json, ')
  })

  test('is refused where the jobs that it reads have too many bytes, and says how to narrow it', async () => {
    const { client, ask, read } = await served()
    const large = 'x'.repeat(500_000)
    for (let at = 0; at < 160; at++) await create(client, [{ name: `a/${at}`, data: { large } }])
    const refused = await ask('SELECT count(*) FROM jobs;')
    expect(refused).toMatchObject({ status: '402 Bad query', body: expect.stringMatching(/more than 67108864 bytes: narrow it/) })
    expect(read.length).toBeLessThan(160)
    expect(await ask("SELECT length(data) > 500000 AS l FROM jobs WHERE name = 'a/7';")).toEqual({
      status: '200 OK',
      body: 'l\n1\n',
    })
  })

  test('takes no more memory than it may, and names nothing of ours', async () => {
    const { ask } = await served()
    const greedy =
      'WITH RECURSIVE t(n, x) AS (SELECT 1, randomblob(100000000) UNION ALL SELECT n + 1, randomblob(100000000) FROM t) SELECT n FROM t ORDER BY x;'
    for (const query of [greedy, 'SELECT * FROM treadle_jobs;', "SELECT load_extension('/x');"]) {
      const { status, body } = await ask(query)
      expect(status).toBe('402 Bad query')
      expect(body).not.toMatch(/\/work|dist|query-process|\.js/)
    }
  })

  test('waits for its turn in a line that has an end, and gives up its place when its client goes', async () => {
    const line = new QueryLine()
    const { opened, open } = gate()
    const first = line.inTurn(new AbortController().signal, () => opened)
    const leaving = new AbortController()
    const left = line.inTurn(leaving.signal, async () => 'run').catch((error) => error.message)
    const others = Array.from({ length: 15 }, (_, at) => line.inTurn(new AbortController().signal, async () => at))
    await expect(line.inTurn(new AbortController().signal, async () => {})).rejects.toThrow('too many queries are waiting')
    leaving.abort()
    expect(await left).toMatch('its client is gone')
    const last = line.inTurn(new AbortController().signal, async () => 'last')
    open()
    await first
    expect(await Promise.all(others)).toEqual(Array.from({ length: 15 }, (_, at) => at))
    expect(await last).toBe('last')
    expect(await line.inTurn(new AbortController().signal, async () => 'after')).toBe('after')
  })
})

describe('what a query needs', () => {
  test.each([
    ['SELECT * FROM jobs WHERE jobID = 1;', { numbers: [1] }],
    ['select * from Jobs where JOBID==1 and jobid in (1,2);', { numbers: [1] }],
    ['SELECT * FROM jobs WHERE jobID = 1 AND jobID = 2;', { numbers: [] }],
    ["SELECT * FROM jobs WHERE state = 'QUEUED' AND priority > 3 LIMIT 1;", { states: ['QUEUED'] }],
    ["SELECT * FROM jobs WHERE state = 'QUEUED' LIMIT 1;", { states: ['QUEUED'], limit: 1 }],
    ['SELECT count(*) FROM jobs WHERE jobID = 1 LIMIT 1;', { numbers: [1] }],
    ['SELECT 1;', { limit: 0 }],
    ["SELECT datetime('now') AS now;", { limit: 0 }],
    ['SELECT * FROM (SELECT * FROM Jobs);', {}],
    ['SELECT * FROM "jobs";', {}],
    ['SELECT DISTINCT name FROM jobs LIMIT 1;', {}],
    ['SELECT name FROM jobs LIMIT 1;', { limit: 1 }],
    ['SELECT name FROM jobs ORDER BY jobID LIMIT 1;', {}],
    ['SELECT name FROM jobs LIMIT 1 OFFSET 1;', {}],
    ['SELECT name FROM jobs WHERE jobID = 1 OR jobID = 2;', {}],
    ['SELECT name FROM jobs WHERE jobID = 1 -- OR 1\n;', {}],
    ['SELECT name FROM jobs WHERE jobID = 1 /* x */;', {}],
    ['SELECT name FROM jobs WHERE "jobID" = 1;', {}],
    ['SELECT name FROM jobs WHERE [jobID] = 1;', {}],
    ['SELECT name FROM jobs AS j WHERE jobID = 1;', {}],
    ['SELECT name FROM jobs, (SELECT 1) WHERE jobID = 1;', {}],
    ['SELECT name FROM jobs WHERE priority BETWEEN 1 AND jobID = 5;', {}],
    ['SELECT name FROM jobs WHERE CASE WHEN 1 AND jobID = 5 THEN 1 ELSE 1 END;', {}],
    ['SELECT name FROM jobs WHERE jobID = 1e3;', {}],
    ["SELECT name FROM jobs WHERE state = x'00';", {}],
    ["SELECT name FROM jobs WHERE state = 'a' COLLATE NOCASE;", {}],
    ['SELECT name FROM jobs WHERE NOT jobID = 1;', {}],
    ['SELECT name FROM jobs WHERE jobID NOT IN (1);', {}],
    ['SELECT name FROM jobs WHERE (jobID = 1);', {}],
    ['SELECT name FROM jobs WHERE jobID = 1 = 0;', {}],
    ['SELECT name FROM jobs WHERE jobID = 99999999999999999999;', {}],
    ['SELECT name FROM jobs WHERE jobID = 1; SELECT 1;', {}],
    ['SELECT name FROM jobs WHERE jobID = 1 UNION SELECT name FROM jobs;', {}],
    ['WITH t AS (SELECT 1) SELECT name FROM jobs WHERE jobID = 1;', {}],
    ["SELECT name FROM jobs WHERE state = 'it''s';", { states: ["it's"] }],
  ])('%s', (sql, narrowed) => {
    expect(narrowingOf(sql)).toEqual({ ...everyJob, ...narrowed })
  })
})
