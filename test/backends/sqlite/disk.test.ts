import { statSync } from 'node:fs'
import { treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { idMaker } from '../../../src/core/id.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { nextTurn, systemClock } from '../../../src/core/time/clock.ts'
import { openSqlite } from '../../../src/engines/sqlite/backend.ts'
import { type Envelope, sealEnvelope } from '../../../src/envelope/envelope.ts'
import type { LeaseRequest, QueueBackend } from '../../../src/queue/contract/contract.ts'
import { connect, scratchFolder } from '../../processes/database.ts'

/** Stands between the queue and the disk: what is to be synced waits, or fails, while a test says so. */
const disk = vi.hoisted(() => ({ waiting: undefined as (() => void)[] | undefined, failure: null as Error | null }))

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const fdatasync = (file: number, done: (error: Error | null) => void) => {
    if (disk.failure !== null) done(disk.failure)
    else if (disk.waiting === undefined) fs.fdatasync(file, done)
    else disk.waiting.push(() => fs.fdatasync(file, done))
  }
  return { ...fs, fdatasync }
})

describe('what is sent while a worker of the same program idles', () => {
  let folder: ReturnType<typeof scratchFolder>
  let backend: QueueBackend
  beforeEach(async () => {
    Object.assign(disk, { waiting: undefined, failure: null })
    folder = scratchFolder()
    backend = await openSqlite({ path: folder.file('jobs.db'), clock: systemClock, logger: silentLogger })
  })
  afterEach(async () => {
    await backend[Symbol.asyncDispose]()
    folder.remove()
  })

  const newId = idMaker(() => systemClock.now())
  const request: LeaseRequest = {
    jobs: [{ job: 'note', concurrency: null, rate: null, group: null }],
    queues: null,
    limit: 1,
    leaseMs: 30_000,
    owner: 'me',
    maxRescues: 3,
  }

  function envelope(): Envelope {
    const names = { id: newId(), job: 'note', name: 'note', queue: 'default', priority: 5 }
    const rest = { maxRetries: 0, timeoutMs: null, singleInstance: false, idempotencyKey: null, meta: {}, occurrence: null }
    const now = systemClock.now()
    return sealEnvelope({ ...names, ...rest, repeat: null }, '{}', { createdAt: now, runAt: now, uniqueKey: null }, null)
  }

  /** Somebody listens, and has found nothing. */
  async function idle(): Promise<{ readonly woken: () => number }> {
    let woken = 0
    const watch = backend.watch(() => woken++)
    onTestFinished(() => watch.close())
    expect((await backend.lease(request)).leases).toEqual([])
    return { woken: () => woken }
  }

  async function turns(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await nextTurn()
  }

  test('wakes it while the disk is still writing, and is acknowledged after that', async () => {
    const { woken } = await idle()
    const waiting: (() => void)[] = []
    disk.waiting = waiting
    let isAcknowledged = false
    const sent = envelope()
    const sending = backend.send([sent]).then(() => {
      isAcknowledged = true
    })
    await turns()
    expect(woken()).toBeGreaterThan(0)
    expect((await backend.lease(request)).leases.map(({ envelope }) => envelope.id)).toEqual([sent.id])
    expect(waiting).toHaveLength(1)
    expect(isAcknowledged).toBe(false)
    for (const goOn of waiting) goOn()
    await sending
  })

  test('is told to other processes when it has had its turn', async () => {
    const wakeFileSize = () => statSync(folder.file('jobs.db.wake')).size
    const sizes: number[] = []
    const watch = backend.watch(() => queueMicrotask(() => sizes.push(wakeFileSize())))
    onTestFinished(() => watch.close())
    await backend.lease(request)
    await backend.send([envelope()])
    expect(sizes[0]).toBe(0)
    expect(wakeFileSize()).toBe(1)
  })

  test('together is synced once, and what comes while that is under way once more', async () => {
    await idle()
    const waiting: (() => void)[] = []
    disk.waiting = waiting
    const sends = [backend.send([envelope()])]
    await turns()
    expect(waiting).toHaveLength(1)
    for (let count = 0; count < 5; count++) sends.push(backend.send([envelope()]))
    await turns()
    expect(waiting).toHaveLength(1)
    waiting[0]?.()
    await sends[0]
    // What has come meanwhile is waiting for the second, unless a commit was so slow that the event loop had its turn first.
    let told = false
    const all = Promise.all(sends).then(() => {
      told = true
    })
    for (let next = 1; !told; ) {
      for (; next < waiting.length; next++) waiting[next]?.()
      await nextTurn()
    }
    await all
    expect(waiting.length).toBeLessThan(sends.length)
  })

  test('is brought to disk by SQLite itself where the sync has failed', async () => {
    await idle()
    const sent = envelope()
    disk.failure = new Error('EIO: i/o error, fdatasync')
    expect(await backend.send([sent])).toEqual([{ id: sent.id, stored: true }])
    expect(statSync(folder.file('jobs.db-wal')).size).toBe(0)
  })

  test('is refused where that cannot be done either', async () => {
    await idle()
    const reader = connect(folder.file('jobs.db'))
    reader.exec('BEGIN; SELECT * FROM treadle_jobs')
    disk.failure = new Error('EIO: i/o error, fdatasync')
    const refused = backend.send([envelope()])
    await expect(refused).rejects.toMatchObject({ name: 'TreadleError', code: 'DATABASE_UNWRITABLE' })
    await expect(refused).rejects.toThrow(/cannot be brought to disk \(EIO/)
    reader.close()
  })

  test('is told to nobody else before it is on disk', async () => {
    await idle()
    const waiting: (() => void)[] = []
    disk.waiting = waiting
    const first = backend.send([{ ...envelope(), uniqueKey: 'one' }])
    await turns()
    await backend.lease(request)
    let isTold = false
    const second = backend.send([{ ...envelope(), uniqueKey: 'one' }]).then(([receipt]) => {
      isTold = true
      return receipt
    })
    await turns()
    expect(isTold).toBe(false)
    disk.waiting = undefined
    for (const goOn of waiting) goOn()
    expect(await second).toEqual({ id: (await first)[0]?.id, stored: false })
  })

  test('is synced by SQLite itself where nobody listens', async () => {
    disk.failure = new Error('not to be asked')
    await backend.send([envelope()])
    await backend.lease(request)
    await backend.send([envelope()])
  })
})

test('dispatches one after the other let timers and sockets have their turn', async () => {
  const folder = scratchFolder()
  const jobs = treadle(`sqlite:${folder.file('jobs.db')}`)
  onTestFinished(async () => {
    await jobs.close()
    folder.remove()
  })
  await jobs.open()
  const job = jobs.declare('note')
  let turns = 0
  setImmediate(() => turns++)
  for (let sent = 0; sent < 20_000 && turns === 0; sent++) await job.dispatch('x')
  expect(turns).toBe(1)
})
