import { treadle } from 'treadle'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { SqlGround } from '../backends/sql-ground.ts'
import { scratchFolder } from './database.ts'
import { endPrograms, type Program, startProgram } from './program.ts'

const folder = scratchFolder()
const ground = new SqlGround('postgres')
const signingKey = 'a secret of sixteen bytes'

beforeAll(() => ground.start())
afterAll(() => ground.stop())
afterEach(async () => {
  await endPrograms()
  folder.remove()
})

describe.each(['sqlite', 'postgres'] as const)('on %s', (engine) => {
  test('three schedulers that are killed in turn store each occurrence of a stored schedule once, and leave none out', async () => {
    const url = engine === 'sqlite' ? `sqlite:${folder.file('jobs.db')}` : ground.url
    const programs: Program[] = await Promise.all([0, 1, 2].map(() => start(url)))
    await using jobs = treadle(url, { signingKey })
    jobs.declare('tick')
    const schedule = { job: 'tick', payload: 'often', cron: '* * * * * *', overlap: 'allow', misfire: 'all' } as const
    const { since } = await jobs.schedules.upsert('often', schedule)
    const first = Math.ceil(since / 1_000) * 1_000
    await enqueued(programs, first)
    for (const [round, at] of [first + 2_000, first + 4_000, first + 6_000].entries()) {
      await programs[round]?.kill()
      await enqueued(
        programs.filter((_, index) => index !== round),
        at,
      )
      programs[round] = await start(url)
    }
    // A pause takes back the run that is stored ahead. When the eighth is stored, the seventh is due and stays.
    await enqueued(programs, first + 7_000)
    await jobs.schedules.pause('often')
    const stored = await (await jobs.store()).list({ job: 'tick', limit: 1_000 })
    const instants = stored.map(({ occurrence }) => occurrence ?? 0).sort((a, b) => a - b)
    const expected = instants.map((_, index) => first + index * 1_000)
    expect(instants).toEqual(expected)
    expect(instants.length).toBeGreaterThanOrEqual(7)
    expect(stored.every(({ schedule: name }) => name === 'stored:often')).toBe(true)
  })
})

/** One of them has stored the occurrence of this instant, or one behind it. */
async function enqueued(programs: readonly Program[], at: number): Promise<void> {
  const lines = [0, 1_000, 2_000, 3_000, 4_000, 5_000].map((laterMs) => `enqueued stored:often ${at + laterMs}`)
  await Promise.any(programs.flatMap((program) => lines.map((line) => program.line(line))))
}

async function start(url: string): Promise<Program> {
  const program = startProgram('stored-scheduler', { url })
  await program.line('ready')
  return program
}
