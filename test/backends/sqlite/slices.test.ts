import { openSqlite } from 'treadle/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { idMaker } from '../../../src/core/id.ts'
import { type Delivery, type Envelope, sealEnvelope } from '../../../src/envelope/envelope.ts'
import { KeyRing } from '../../../src/envelope/keys/key-ring.ts'
import type { QueueBackend } from '../../../src/queue/contract/contract.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { faultsOf, query, scratchFolder } from '../../processes/database.ts'

const keys = new KeyRing([{ id: 'k', secret: 'sixteen bytes at least' }])
const silent = { debug() {}, info() {}, warn() {}, error() {} }

describe.each([true, false])('a batch that is sent in slices, with fast paths %s', (fastPaths) => {
  const clock = new ManualClock()
  const newId = idMaker(() => clock.now())
  let folder: ReturnType<typeof scratchFolder>
  let path: string
  let backend: QueueBackend
  beforeEach(async () => {
    folder = scratchFolder()
    path = folder.file('jobs.db')
    backend = await openSqlite({ path, clock, logger: silent, fastPaths })
  })
  afterEach(async () => {
    await backend[Symbol.asyncDispose]()
    folder.remove()
  })

  function envelope(delivery: Partial<Delivery> = {}, id = newId()): Envelope {
    const common = { job: 'mail', name: 'mail', queue: 'default', priority: 0, maxRetries: null, timeoutMs: null }
    const identity = { ...common, id, singleInstance: false, idempotencyKey: null, meta: {}, occurrence: null, repeat: null }
    return sealEnvelope(identity, '{}', { createdAt: clock.now(), runAt: clock.now(), uniqueKey: null, ...delivery }, keys)
  }

  const slice = (length: number) => Array.from({ length }, () => envelope())
  const send = (slices: Iterable<readonly Envelope[]>) => backend.slices?.send(slices) ?? Promise.reject(new Error('no slices'))
  const stored = () => query<{ id: string }>(path, 'SELECT id FROM treadle_jobs ORDER BY id').map(({ id }) => id)
  const idsOf = (envelopes: readonly Envelope[]) => envelopes.map(({ id }) => id)

  it('is stored as one, and not before its last slice', async () => {
    const slices = [slice(60), slice(9), slice(1)]
    const seen: number[] = []
    function* made() {
      for (const each of slices) {
        yield each
        seen.push(stored().length)
      }
    }
    const receipts = await send(made())
    expect(seen).toEqual([0, 0, 0])
    expect(receipts).toEqual(slices.flat().map(({ id }) => ({ id, stored: true })))
    expect(stored()).toEqual(idsOf(slices.flat()))
    expect(faultsOf(path)).toEqual([])
  })

  it('is not stored at all if one of its slices cannot be made, and the next one is', async () => {
    function* broken() {
      yield slice(60)
      throw new Error('no key')
    }
    await expect(send(broken())).rejects.toThrow('no key')
    const next = slice(2)
    await send([next])
    expect(stored()).toEqual(idsOf(next))
    expect(faultsOf(path)).toEqual([])
  })

  it('answers for each of its jobs, also for one that was sent before and one whose key is taken', async () => {
    const [before] = slice(1) as [Envelope]
    const holder = envelope({ uniqueKey: 'k' })
    await backend.send([before, holder])
    const first = slice(3)
    const taken = envelope({ uniqueKey: 'k' })
    const receipts = await send([first, [before, ...slice(1)], [taken]])
    expect(receipts.map(({ stored }) => stored)).toEqual([true, true, true, false, true, false])
    expect(receipts.at(-1)).toMatchObject({ id: holder.id, stored: false })
    expect(stored()).toHaveLength(6)
    expect(faultsOf(path)).toEqual([])
  })

  it('leaves the file to others when it is over', async () => {
    await Promise.all([send([slice(20), slice(20)]), backend.send(slice(300)), send([slice(5), slice(5)])])
    await backend.send(slice(1))
    expect(stored()).toHaveLength(351)
    expect(faultsOf(path)).toEqual([])
  })
})
