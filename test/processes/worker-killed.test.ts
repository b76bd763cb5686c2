import { readFileSync } from 'node:fs'
import { treadle } from 'treadle'
import { afterEach, expect, test } from 'vitest'
import { execute, faultsOf, query, rowsIn, scratchFolder } from './database.ts'
import { endPrograms, eventually, startProgram } from './program.ts'

const folder = scratchFolder()
afterEach(endPrograms)
afterEach(() => folder.remove())

const jobCount = 20_000
/** So long that no worker that lives loses one, however busy the machine is. That of the dead one is ended by hand. */
const lease = '1h'

test('O9 J35: of two workers and a producer one worker is killed, and the survivors finish every job', async () => {
  const path = folder.file('jobs.db')
  const logs = [folder.file('victim.log'), folder.file('survivor.log')] as const
  const victim = startProgram('logging-worker', { path, log: logs[0], lease, hangAt: 200 })
  const survivor = startProgram('logging-worker', { path, log: logs[1], lease })
  const producer = startProgram('producer', { path, count: jobCount })

  await victim.line('hanging')
  await victim.kill()
  const held = query<{ id: string }>(path, 'SELECT id FROM treadle_jobs WHERE state = 3 AND owner LIKE ?', `%:${victim.pid}:%`)
  expect(held.length).toBeGreaterThan(0)
  execute(path, `UPDATE treadle_jobs SET lease_until = 0 WHERE state = 3 AND owner LIKE '%:${victim.pid}:%'`)

  await producer.success()
  const store = treadle(`sqlite:${path}`)
  try {
    await eventually('every job has succeeded', async () => {
      const [counts] = await (await store.store()).counts()
      return counts?.counts.succeeded === jobCount
    })
  } finally {
    await store.close()
  }
  survivor.signal('SIGTERM')
  await survivor.success()

  expect(rowsIn(path)).toBe(jobCount)
  expect(faultsOf(path)).toEqual([])
  const rescued = query<{ id: string; rescues: number }>(path, 'SELECT id, rescues FROM treadle_jobs WHERE rescues > 0')
  expect(rescued.every(({ rescues }) => rescues === 1)).toBe(true)
  expect(new Set(rescued.map(({ id }) => id))).toEqual(new Set(held.map(({ id }) => id)))
  expect(query(path, 'SELECT id FROM treadle_jobs WHERE attempts <> 1')).toEqual([])

  const [victimRuns, survivorRuns] = [runsIn(logs[0], victim.pid), runsIn(logs[1], survivor.pid)] as const
  expect(new Set([...victimRuns, ...survivorRuns]).size).toBe(jobCount)
  expect(new Set(survivorRuns).size).toBe(survivorRuns.length)
  expect(new Set(victimRuns).size).toBe(victimRuns.length)
  const heldIds = new Set(held.map(({ id }) => id))
  const inVictim = new Set(victimRuns)
  const twice = survivorRuns.filter((id) => inVictim.has(id))
  expect(twice.length).toBeGreaterThan(0)
  expect(twice.filter((id) => !heldIds.has(id))).toEqual([])
})

/** The jobs that a worker ran, in the order in which they began. */
function runsIn(log: string, pid: number): readonly string[] {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const [id, by] = line.split(' ')
    expect(Number(by)).toBe(pid)
    return id as string
  })
}
