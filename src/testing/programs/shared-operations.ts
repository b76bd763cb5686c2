import type { Performers } from './program.ts'
import { idOf, nameOf, numberOfId, ownerOf, queueOf, type Stage } from './stage.ts'

type Names =
  | 'reserve'
  | 'assign'
  | 'find'
  | 'claimOnce'
  | 'sweepKeys'
  | 'lock'
  | 'unlock'
  | 'announce'
  | 'leave'
  | 'workers'
  | 'recordEvents'
  | 'readEvents'

/** State that programs share: numbers, idempotency keys, locks, live workers and recent events. */
export const sharedOperations: Performers<Names, Stage> = {
  reserve: async (stage, { count = 4 }) => {
    stage.noteReserved(await stage.numbering.reserve(count), count)
    return null
  },
  assign: async (stage, { ids = [] }) => {
    const numbers = await stage.numbering.assign(ids.map(idOf))
    for (const [index, number] of numbers.entries()) if (number !== null) stage.noteAssigned(number, ids[index] as number)
    const given = [...new Set(numbers)].flatMap((number) => number ?? []).sort((a, b) => a - b)
    return {
      numbers: numbers.map((number) => stage.nameOfNumber(number)),
      inOrder: given.map((each) => stage.nameOfNumber(each)),
    }
  },
  find: async (stage, { numbers = [] }) => {
    const known = numbers.flatMap((index) => stage.numberAt(index) ?? [])
    const ids = await stage.numbering.find(known)
    const pairs = ids.map((id, index) => [stage.nameOfNumber(known[index] as number), id === null ? null : numberOfId(id)])
    return pairs.sort()
  },
  claimOnce: ({ backend }, { key = 0, id }) => backend.coordination.claimOnce(`once-${key}`, idOf(id)),
  sweepKeys: ({ backend }, { limit = 100 }) => backend.store.sweep({ part: 'keys', limit }),
  lock: ({ backend }, { name = 0, owner = 0, ms = 1_000 }) =>
    backend.coordination.lock(`lock-${name}`, { owner: ownerOf(owner), host: 'host', pid: owner }, ms),
  unlock: ({ backend }, { name = 0, owner }) => backend.coordination.unlock(`lock-${name}`, ownerOf(owner)),
  announce: ({ backend, startedAt }, { owner = 0, ms = 1_000, running = 0 }) => {
    const limits = { concurrency: 4, allowed: 4, running }
    const place = { owner: ownerOf(owner), host: 'host', pid: owner, version: '1.0.0', startedAt }
    const work = { queues: [queueOf(0)], jobs: [nameOf(0), nameOf(1)], breaker: 'closed' as const, scheduler: null }
    return backend.store.workers.announce({ ...place, ...limits, ...work }, ms)
  },
  leave: ({ backend }, { owner }) => backend.store.workers.leave(ownerOf(owner)),
  workers: ({ backend }) => backend.store.workers.list(),
  recordEvents: async ({ backend }, { chunks = [] }) =>
    backend.store.events?.append(chunks.map(({ events = 1, dropped = 0 }) => ({ events, dropped, text: `${events} events` }))),
  readEvents: ({ backend }, { after = 0, limit = 100 }) => backend.store.events?.read(after, limit) ?? Promise.resolve(undefined),
}
