import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Treadle, treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../services.ts'
import { scratchFolder } from './database.ts'
import { endPrograms, eventually, startProgram } from './program.ts'

const key = 'a key that all workers of this test share'
const rounds = 3
const jobsPerRound = 60

interface Trace {
  readonly what: string
  readonly id: string
  readonly pid: number
}

/** In which the handlers run; a process of its own is stopped with its worker. */
const worlds = [
  ['sqlite', undefined],
  ['sqlite', 'process'],
  ['postgres', undefined],
  ['mariadb', undefined],
] as const

describe.each(worlds)('a worker on %s that is stopped for longer than its leases (isolated: %s)', (engine, isolation) => {
  let folder: ReturnType<typeof scratchFolder>
  let database: FreshDatabase | undefined
  let jobs: Treadle
  let url: string
  let log: string
  beforeEach(async () => {
    folder = scratchFolder()
    log = folder.file('trace.log')
    database = engine === 'sqlite' ? undefined : await freshDatabase(engine)
    url = database?.url ?? `sqlite:${folder.file('jobs.db')}`
    jobs = treadle(url, { signingKey: key })
  })
  afterEach(async () => {
    await endPrograms()
    await jobs.close()
    await database?.dispose()
    folder.remove()
  })

  test('begins nothing that another one has ended meanwhile', async () => {
    const work = { url, key, log, isolation, options: { lease: '1s', poll: '50ms', concurrency: 5 } }
    const stopped = startProgram('stopped-worker', work)
    const other = startProgram('stopped-worker', work)
    await stopped.line('working')
    await other.line('working')
    const traced = jobs.declare<number>('traced')
    for (let round = 1; round <= rounds; round++) {
      const total = round * jobsPerRound
      await traced.dispatchMany(Array.from({ length: jobsPerRound }, (_, n) => (n % 4) * 5))
      await eventually('some of them are done', async () => (await count('succeeded')) > total - jobsPerRound)
      stopped.signal('SIGSTOP')
      await isDone(total)
      stopped.signal('SIGCONT')
      await eventually('all of them are done', async () => (await count('succeeded')) === total)
    }
    for (const program of [stopped, other]) program.signal('SIGTERM')
    for (const program of [stopped, other]) await program.ended
    expect(late()).toEqual([])
  })

  /** All is done by the other one, after several leases; or never, where the stopped one was in the middle of a transaction. */
  async function isDone(total: number): Promise<void> {
    for (let look = 0; look < 100 && (await count('succeeded')) < total; look++) await pause(25)
  }

  async function count(state: 'succeeded'): Promise<number> {
    const [counts] = await (await jobs.store()).counts()
    return counts?.counts[state] ?? 0
  }

  /** Jobs that began after their end was written by another worker. */
  function late(): readonly Trace[] {
    const written = new Set<string>()
    return traces().filter(({ what, id }) => {
      if (what === 'written') written.add(id)
      return what === 'begun' && written.has(id)
    })
  }

  function traces(): readonly Trace[] {
    if (!existsSync(log)) return []
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
    return lines.map((line) => {
      const [what, id, pid] = line.split(' ')
      return { what: what as string, id: id as string, pid: Number(pid) }
    })
  }
})
