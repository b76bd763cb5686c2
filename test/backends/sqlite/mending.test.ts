import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { QueueBackend } from 'treadle'
import { openSqlite } from 'treadle/sqlite'
import { ManualClock } from 'treadle/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { idMaker } from '../../../src/core/id.ts'
import { loadDriver } from '../../../src/engines/sqlite/file/driver.ts'
import { type FailurePolicy, type Links, sealEnvelope } from '../../../src/envelope/envelope.ts'
import type { JobStore } from '../../../src/queue/contract/store.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** A queue in a file, and a way to write to that file behind its back. */
async function broken() {
  const folder = mkdtempSync(join(tmpdir(), 'treadle-mending-'))
  const path = join(folder, 'jobs.db')
  const clock = new ManualClock()
  const backend = (await openSqlite({ path, clock, logger: silent })) as QueueBackend & { readonly store: JobStore }
  const Driver = await loadDriver()
  onTestFinished(async () => {
    await backend[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  const newId = idMaker(() => clock.now())
  const send = async (waits: readonly string[] = [], onFailure: FailurePolicy = 'fail'): Promise<string> => {
    const id = newId()
    const identity = { id, job: 'work', name: 'work', queue: 'default', priority: 5, maxRetries: 0, timeoutMs: null }
    const rest = { singleInstance: false, idempotencyKey: null, meta: {}, occurrence: null, repeat: null }
    const waitsFor = waits.map((each) => ({ id: each, onFailure }))
    const links: Links | null = waits.length === 0 ? null : { root: 'flow', parent: null, waitsFor, longestWaitMs: 86_400_000 }
    const delivery = { createdAt: clock.now(), runAt: clock.now(), uniqueKey: null, links }
    await backend.send([sealEnvelope({ ...identity, ...rest }, '{}', delivery, null)])
    return id
  }
  const change = (sql: string, ...values: readonly string[]): void => {
    const database = new Driver(path)
    database.prepare(sql).run(...values)
    database.close()
  }
  const state = async (id: string) => (await backend.store.get(id))?.state
  return { store: backend.store, send, change, state }
}

describe('a job that waits in vain is found and set right (demand 29)', () => {
  it('when the job that it waits for has ended and nobody told it', async () => {
    const { store, send, change, state } = await broken()
    const first = await send()
    const second = await send([first])
    change("UPDATE treadle_jobs SET state = 4, finished_at = 1, result = '7' WHERE id = ?", first)
    expect(await store.sweep({ part: 'waits', limit: 10 })).toEqual({ looked: 1, changed: 1 })
    expect(await state(second)).toBe('ready')
    expect((await store.links(second))[0]).toMatchObject({ state: 'succeeded', result: '7', waiting: false })
  })

  it('when the job that it waits for is gone, with what follows from that', async () => {
    const { store, send, change, state } = await broken()
    const first = await send()
    const [second, rescuer] = [await send([first]), await send([first], 'rescue')]
    const third = await send([second], 'ignore')
    change('DELETE FROM treadle_jobs WHERE id = ?', first)
    expect(await store.sweep({ part: 'waits', limit: 10 })).toMatchObject({ changed: 2 })
    expect([await state(second), await state(third), await state(rescuer)]).toEqual(['dead', 'ready', 'ready'])
  })

  it('when its counter is wrong, in either direction', async () => {
    const { store, send, change, state } = await broken()
    const first = await send()
    const second = await send([first])
    change('UPDATE treadle_links SET pending = 5')
    expect(await store.sweep({ part: 'waits', limit: 10 })).toEqual({ looked: 1, changed: 1 })
    expect(await state(second)).toBe('blocked')
    change('UPDATE treadle_edges SET waiting = 0')
    expect(await store.sweep({ part: 'waits', limit: 10 })).toEqual({ looked: 1, changed: 1 })
    expect(await state(second)).toBe('ready')
  })

  it('a part at a time, going on where the last look ended', async () => {
    const { store, send, change } = await broken()
    const first = await send()
    for (let count = 0; count < 5; count++) await send([first])
    expect(await store.sweep({ part: 'waits', limit: 2 })).toEqual({ looked: 2, changed: 0 })
    change('UPDATE treadle_jobs SET state = 6, finished_at = 1 WHERE id = ?', first)
    expect(await store.sweep({ part: 'waits', limit: 2 })).toEqual({ looked: 2, changed: 2 })
    expect(await store.sweep({ part: 'waits', limit: 2 })).toEqual({ looked: 1, changed: 1 })
    expect(await store.sweep({ part: 'waits', limit: 2 })).toEqual({ looked: 2, changed: 2 })
    expect(await store.sweep({ part: 'waits', limit: 2 })).toEqual({ looked: 0, changed: 0 })
  })
})
