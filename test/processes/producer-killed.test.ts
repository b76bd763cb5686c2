import { treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { faultsOf, query, rowsIn, scratchFolder } from './database.ts'
import { endPrograms, eventually, startProgram } from './program.ts'

describe('a producer that is killed', () => {
  let folder: ReturnType<typeof scratchFolder>
  beforeEach(() => {
    folder = scratchFolder()
  })
  afterEach(async () => {
    await endPrograms()
    folder.remove()
  })

  test('in a loop of dispatches leaves every job that it was told of, whole', async () => {
    const path = folder.file('jobs.db')
    const acknowledged: string[] = []
    for (let round = 1; round <= 3; round++) {
      const producer = startProgram('dispatch-loop', { path })
      await producer.line('enough')
      await producer.kill()
      // What was written to the pipe before the kill was said after its commit.
      acknowledged.push(
        ...producer.lines.filter((line) => line.startsWith('stored ')).map((line) => line.slice('stored '.length)),
      )
    }
    const stored = new Set(query<{ id: string }>(path, 'SELECT id FROM treadle_jobs').map(({ id }) => id))
    expect(acknowledged.length).toBeGreaterThan(3 * 50)
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
    expect(faultsOf(path)).toEqual([])
    expect(await runAll(path)).toEqual(stored)
  })

  test('in the middle of a dispatchMany leaves whole jobs or none, and counts that are right', async () => {
    const count = 50_000
    const path = await killedWhileSending(count)
    const rows = rowsIn(path)
    expect(rows).toBeGreaterThan(0)
    expect(rows).toBeLessThan(count)
    expect(faultsOf(path)).toEqual([])
    const numbers = query<{ number: number }>(path, "SELECT payload ->> 'number' AS number FROM treadle_jobs ORDER BY id")
    expect(numbers.map(({ number }) => number)).toEqual(Array.from({ length: rows }, (_, index) => index))
    expect((await runAll(path)).size).toBe(rows)
  })

  /** The file that it leaves. On a machine that stands still at the wrong time the kill comes too late, and is tried again. */
  async function killedWhileSending(count: number): Promise<string> {
    for (let attempt = 1; attempt <= 5; attempt++) {
      const path = folder.file(`${attempt}.db`)
      const producer = startProgram('dispatch-many', { path, count })
      await producer.line('sending')
      await eventually('some of the jobs are stored', () => rowsIn(path) > 0)
      await producer.kill()
      if (!producer.lines.includes('sent')) return path
    }
    throw new Error('The producer was always faster than the kill')
  }
})

/** Runs whatever the file holds; gives the ids of the jobs that ran. */
async function runAll(path: string): Promise<ReadonlySet<string>> {
  const ran: string[] = []
  const jobs = treadle(`sqlite:${path}`)
  try {
    jobs.define('count', (_payload, ctx) => {
      ran.push(ctx.id)
    })
    const report = await jobs.run({ concurrency: 50 })
    expect(report).toMatchObject({ succeeded: ran.length, dead: 0, retried: 0, lost: 0 })
  } finally {
    await jobs.close()
  }
  expect(faultsOf(path)).toEqual([])
  expect(query(path, 'SELECT id FROM treadle_jobs WHERE state <> 4')).toEqual([])
  expect(new Set(ran).size).toBe(ran.length)
  return new Set(ran)
}
