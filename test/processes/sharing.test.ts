import { readFileSync } from 'node:fs'
import { treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { faultsOf, query, rowsIn, scratchFolder } from './database.ts'
import { endPrograms, eventually, type Program, startProgram } from './program.ts'

describe('several processes on one file', () => {
  let folder: ReturnType<typeof scratchFolder>
  let path: string
  beforeEach(() => {
    folder = scratchFolder()
    path = folder.file('jobs.db')
  })
  afterEach(async () => {
    await endPrograms()
    folder.remove()
  })

  test('J39: four dispatch and work at once; none finds the file locked, and each key is stored once', async () => {
    const [count, keys] = [1_000, 20]
    const names = ['a', 'b', 'c', 'd']
    const programs = names.map((name) => startProgram('mixed', { path, log: folder.file(`${name}.log`), count, keys, name }))
    const created = await Promise.all(programs.map((program) => wordOf<number>(program, 'created')))
    const ids = await Promise.all(programs.map((program) => wordOf<string[]>(program, 'ids')))
    await eventually('nothing is left to run', () => liveRows() === 0)
    await stopAll(programs)

    expect(created.reduce((sum, each) => sum + each)).toBe(keys)
    expect(new Set(ids.flat()).size).toBe(keys)
    expect(query(path, "SELECT DISTINCT unique_key FROM treadle_jobs WHERE unique_key LIKE 'unique%'")).toHaveLength(keys)
    expect(rowsIn(path)).toBe(names.length * count * 2 + keys)
    expect(faultsOf(path)).toEqual([])
    const runs = names.flatMap((name) =>
      readFileSync(folder.file(`${name}.log`), 'utf8')
        .trimEnd()
        .split('\n'),
    )
    expect(runs).toHaveLength(names.length * count * 2)
    expect(new Set(runs).size).toBe(runs.length)
    const jobs = treadle(`sqlite:${path}`)
    try {
      const counts = await (await jobs.store()).counts()
      expect(counts.map(({ queue, job, counts: { ready, succeeded } }) => [queue, job, ready, succeeded]).sort()).toEqual([
        ['default', 'plain', 0, names.length * count],
        ['default', 'unique', keys, 0],
        ['second', 'other', 0, names.length * count],
      ])
    } finally {
      await jobs.close()
    }
  })

  test('J31: a concurrency of two holds over three worker processes', async () => {
    const count = 300
    const log = folder.file('limited.log')
    const workers = [1, 2, 3].map(() => startProgram('limited-worker', { path, log }))
    await Promise.all(workers.map((worker) => worker.line('working')))
    const jobs = treadle(`sqlite:${path}`)
    try {
      await jobs.declare('limited').dispatchMany(Array.from({ length: count }, (_, number) => ({ number })))
    } finally {
      await jobs.close()
    }
    await eventually('every limited job has run', () => liveRows() === 0)
    await stopAll(workers)

    const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
    expect(lines).toHaveLength(2 * count)
    expect(mostAtOnce(lines)).toBe(2)
    expect(new Set(lines.map((line) => line.split(' ')[2])).size).toBeGreaterThan(1)
    expect(query(path, 'SELECT id FROM treadle_jobs WHERE attempts <> 1 OR rescues <> 0')).toEqual([])
    expect(faultsOf(path)).toEqual([])
  })

  test('X37 J20: two schedulers store each occurrence once between them', async () => {
    const schedulers = [startProgram('scheduler', { path }), startProgram('scheduler', { path })]
    await eventually('five occurrences have run', () => succeededRows() >= 5)
    await stopAll(schedulers)

    const stored = schedulers.flatMap(({ lines }) => lines.filter((line) => line.startsWith('enqueued ')))
    expect(new Set(stored).size).toBe(stored.length)
    const rows = query<{ at: number }>(path, 'SELECT at FROM treadle_occurrences ORDER BY at')
    expect(rows.map(({ at }) => `enqueued ${at}`)).toEqual(stored.toSorted())
    expect(faultsOf(path)).toEqual([])
  })

  const liveRows = () => countWhere("state < 4 AND lane IN (SELECT lane FROM treadle_lanes WHERE job <> 'unique')")
  const succeededRows = () => countWhere('state = 4')

  function countWhere(condition: string): number {
    const tables = query(path, "SELECT 1 FROM sqlite_schema WHERE name = 'treadle_jobs'")
    if (tables.length === 0) return 0
    return query<{ rows: number }>(path, `SELECT count(*) AS rows FROM treadle_jobs WHERE ${condition}`)[0]!.rows
  }
})

async function wordOf<Value>(program: Program, word: string): Promise<Value> {
  return JSON.parse((await program.line(word)).slice(word.length + 1)) as Value
}

/** Each ends by itself with code 0 and said nothing on stderr, where every failed call of a worker would be told. */
async function stopAll(programs: readonly Program[]): Promise<void> {
  for (const program of programs) program.signal('SIGTERM')
  await Promise.all(programs.map((program) => program.success()))
}

/** `start` is written after a run has begun and `end` before it is over: what the lines show as overlap did overlap. */
function mostAtOnce(lines: readonly string[]): number {
  let running = 0
  let most = 0
  for (const line of lines) {
    running += line.startsWith('start ') ? 1 : -1
    most = Math.max(most, running)
  }
  return most
}
