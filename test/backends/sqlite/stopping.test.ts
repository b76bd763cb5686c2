import { type QueueBackend, systemClock, treadle } from 'treadle'
import { openSqlite } from 'treadle/sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { faultsOf, query, scratchFolder } from '../../processes/database.ts'
import { eventually } from '../../processes/program.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const signingKey = 'a secret of more than sixteen bytes'

describe('a worker that stops while its database is slow', () => {
  let folder: ReturnType<typeof scratchFolder>
  let path: string
  let backend: QueueBackend
  beforeEach(async () => {
    folder = scratchFolder()
    path = folder.file('jobs.db')
    backend = await openSqlite({ path, clock: systemClock, logger: silent })
  })
  afterEach(async () => {
    await backend[Symbol.asyncDispose]()
    folder.remove()
  })

  test('X20: gives back the jobs of a claim that was under way, also while others still run', async () => {
    const claim = gate()
    let started = 0
    const slow: QueueBackend = {
      ...backend,
      async lease(request) {
        const batch = await backend.lease(request)
        // One job runs already; what is claimed then comes back after the worker was told to stop.
        if (started === 1 && batch.leases.length > 0) await claim.passed
        return batch
      },
    }
    const jobs = treadle('', { backend: slow, signingKey, logger: silent })
    const handler = gate()
    const job = jobs.define('count', async () => {
      started++
      await handler.passed
    })
    await job.dispatch(1)
    const working = jobs.work({ concurrency: 2, signals: false, poll: '10ms' })
    await eventually('the first job runs', () => started === 1)
    await job.dispatchMany([2, 3, 4])
    await eventually('the second claim is under way', () => runningRows() > 1)
    const stopped = jobs.stop()
    claim.open()
    handler.open()
    await stopped
    const report = await working
    expect(report).toMatchObject({ succeeded: 1, lost: 0 })
    expect(report.released).toBeGreaterThan(0)
    expect(started).toBe(1)
    expect(states()).toEqual([4, 0, 0, 0])
    expect(faultsOf(path)).toEqual([])
  })

  test('gives back the jobs of a claim that was under way while it was idle', async () => {
    const claim = gate()
    const slow: QueueBackend = {
      ...backend,
      async lease(request) {
        const batch = await backend.lease(request)
        if (batch.leases.length > 0) await claim.passed
        return batch
      },
    }
    const jobs = treadle('', { backend: slow, signingKey, logger: silent })
    let started = 0
    const job = jobs.define('count', () => void started++)
    await job.dispatchMany([1, 2])
    const working = jobs.work({ signals: false })
    await eventually('the claim is under way', () => runningRows() === 2)
    const stopped = jobs.stop()
    claim.open()
    await stopped
    expect(await working).toMatchObject({ succeeded: 0, released: 2 })
    expect(started).toBe(0)
    expect(states()).toEqual([0, 0])
    expect(query(path, 'SELECT id FROM treadle_jobs WHERE attempts <> 0')).toEqual([])
  })

  test('does not wait for ever for a database that does not answer any more', async () => {
    let broken = false
    const failing: QueueBackend = {
      ...backend,
      settle: (settlements) => (broken ? Promise.reject(new Error('the disk is gone')) : backend.settle(settlements)),
    }
    const jobs = treadle('', { backend: failing, signingKey, logger: silent })
    const job = jobs.define('count', () => {
      broken = true
    })
    await job.dispatch(1)
    const working = jobs.work({ signals: false, grace: '50ms' })
    await eventually('the settlement fails', () => broken)
    await jobs.stop()
    expect(await working).toMatchObject({ succeeded: 0, lost: 1 })
    expect(states()).toEqual([3])
  })

  const runningRows = () => states().filter((state) => state === 3).length
  const states = () => query<{ state: number }>(path, 'SELECT state FROM treadle_jobs ORDER BY id').map(({ state }) => state)
})

function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open: () => open() }
}
