import { treadle } from 'treadle'
import { afterEach, expect, test } from 'vitest'
import { faultsOf, query, scratchFolder } from './database.ts'
import { endPrograms, type Program, startProgram } from './program.ts'
import { schedules } from './programs/schedules.mjs'

const folder = scratchFolder()
const day = 86_400_000
const from = Date.parse('2027-03-01T00:00:00Z')
const to = from + 30 * day

afterEach(async () => {
  await endPrograms()
  folder.remove()
})

test('X37: eight schedulers, killed at random for 30 days, store each occurrence once and leave none out', async () => {
  const path = folder.file('jobs.db')
  const chance = seeded(20270301)
  const programs: (Program | undefined)[] = await Promise.all(Array.from({ length: 8 }, () => start(path, from)))
  let killed = 0
  for (let now = from; now <= to; now += Math.floor(20 + chance() * 320) * 60_000) {
    const asked = programs.filter((program) => program !== undefined && chance() < 0.35) as Program[]
    for (const program of asked) program.tell(String(now))
    if (chance() < 0.05) {
      const victim = Math.floor(chance() * programs.length)
      void programs[victim]?.kill()
      programs[victim] = undefined
      killed++
    }
    // One that was killed says nothing more.
    await Promise.all(asked.map((program) => program.line(`at ${now}`).catch(() => undefined)))
    for (const [index, program] of programs.entries()) {
      if (program === undefined && chance() < 0.3) programs[index] = await start(path, now)
    }
  }
  const last = await start(path, to)
  last.tell(String(to))
  await last.line(`at ${to}`)
  expect(killed).toBeGreaterThan(7)
  const stored = query<{ schedule: string; at: number }>(path, 'SELECT schedule, at FROM treadle_occurrences')
  const jobs = query<{ schedule: string; occurrences: number }>(
    path,
    'SELECT schedule, count(*) AS occurrences FROM treadle_jobs GROUP BY schedule',
  )
  for (const [name, occurrences] of Object.entries(expected())) {
    const instants = stored.filter(({ schedule, at }) => schedule === name && at > from && at <= to).map(({ at }) => at)
    expect(
      instants.sort((a, b) => a - b),
      name,
    ).toEqual(occurrences)
  }
  expect(jobs.reduce((sum, { occurrences }) => sum + occurrences, 0)).toBe(stored.length)
  expect(faultsOf(path)).toEqual([])
}, 600_000)

async function start(path: string, now: number): Promise<Program> {
  const program = startProgram('time-traveller', { path, from: now })
  await program.line('ready')
  return program
}

/** What the schedules themselves say; that they are right is tested elsewhere. */
function expected(): Record<string, number[]> {
  const jobs = treadle('memory:')
  const definitions = Object.entries(schedules).map(([name, say]) => say(jobs.define(name, () => null)).toDefinition())
  return Object.fromEntries(
    definitions.map(({ job, fields }) => {
      const instants: number[] = []
      let at = fields.schedule?.next(from) ?? null
      while (at !== null && at <= to) {
        instants.push(at)
        at = fields.schedule?.next(at) ?? null
      }
      return [job, instants]
    }),
  )
}

/** The same chances in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}
