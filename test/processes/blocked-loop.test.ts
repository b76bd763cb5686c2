import { treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { faultsOf, query, scratchFolder } from './database.ts'
import { endPrograms, eventually, type Program, startProgram } from './program.ts'

/** A machine that is busy may let a thread wait for a second: a lease must outlast that. */
const options = { lease: '3s', poll: '50ms' }

describe('a worker whose handler blocks the event loop for many leases', () => {
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

  test('demands 4, 9: keeps its job, from its very first one on: it runs once, and its own worker settles it', async () => {
    const blocked = await blockedWorker({ blockMs: 12_000 })
    const idle = await idleWorker()
    await blocked.line('succeeded')
    expect(idle.lines).toEqual(['working'])
    expect(blocked.lines.filter((line) => line.startsWith('lost'))).toEqual([])
    expect(row()).toMatchObject({ state: 4, attempts: 1, rescues: 0, result: String(blocked.pid) })
    await blocked.line('said the event loop was blocked')
    // A process that was given next to no processor time in those seconds may have been stopped, for all that it knows.
    expect(blocked.lines.find((line) => line.startsWith('said'))).toMatch(
      /because of block \(.*\.isolate\('thread'\)|ended meanwhile: block$/,
    )
    await ended([blocked, idle])
  })

  test('demands 10: loses a job whose timeout is over, some seconds after that and not before', async () => {
    const blocked = await blockedWorker({ blockMs: 25_000, timeout: '1s' })
    const [first] = query<{ started_at: number }>(path, 'SELECT started_at FROM treadle_jobs')
    const idle = await idleWorker()
    await idle.line('succeeded')
    expect(row()).toMatchObject({ state: 4, attempts: 1, rescues: 1, result: String(idle.pid) })
    expect(row().started_at - first!.started_at).toBeGreaterThanOrEqual(6_000)
    await blocked.line('lost')
    await ended([blocked, idle])
  })

  test('is listed all the while, though it was not seen', async () => {
    const blocked = await blockedWorker({ blockMs: 10_000 })
    const jobs = treadle(`sqlite:${path}`)
    const { workers } = await jobs.store()
    await eventually('it is silent for longer than it could be', async () => {
      const [worker] = await workers.list()
      return worker !== undefined && worker.expiresAt - worker.seenAt > 2_000
    })
    await blocked.line('succeeded')
    await jobs.close()
    await ended([blocked])
  })

  /** Its only job is the first one that it ever gets, and nothing of it has been used before. */
  async function blockedWorker({ blockMs, timeout }: { blockMs: number; timeout?: string }): Promise<Program> {
    const worker = startProgram('blocking-worker', { path, blockMs, options })
    await worker.line('working')
    const jobs = treadle(`sqlite:${path}`)
    const job = jobs.declare('block')
    await (timeout === undefined ? job : job.timeout(timeout)).dispatch()
    await jobs.close()
    await worker.line('blocks')
    return worker
  }

  async function idleWorker(): Promise<Program> {
    const worker = startProgram('blocking-worker', { path, blockMs: 0, options })
    await worker.line('working')
    return worker
  }

  async function ended(programs: readonly Program[]): Promise<void> {
    for (const program of programs) program.signal('SIGTERM')
    for (const program of programs) await program.success()
    expect(faultsOf(path)).toEqual([])
  }

  function row() {
    const fields = 'state, attempts, rescues, result, started_at'
    return { ...query<{ started_at: number; state: number }>(path, `SELECT ${fields} FROM treadle_jobs`)[0]! }
  }
})
