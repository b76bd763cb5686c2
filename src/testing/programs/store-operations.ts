import type { Envelope, Seal } from '../../envelope/envelope.ts'
import { sealOf } from '../../envelope/envelope.ts'
import { cancelOutcome, treeCounts } from '../../queue/contract/queue-counts.ts'
import type { JobChange } from '../../queue/contract/store.ts'
import { heldLease, jobLink, jobRecord } from './answers.ts'
import { envelopeOf } from './envelopes.ts'
import { claimRules } from './job-operations.ts'
import type { ListSpec, Performers, RemoveSpec } from './program.ts'
import { groupOf, idOf, nameOf, ownerOf, queueOf, rootOf, type Stage, tagOf } from './stage.ts'

type Names =
  | 'get'
  | 'list'
  | 'counts'
  | 'cancel'
  | 'cancelTree'
  | 'cancelRoot'
  | 'reschedule'
  | 'amend'
  | 'reject'
  | 'retry'
  | 'remove'
  | 'leases'
  | 'leasesOf'
  | 'pause'
  | 'resume'
  | 'pausedQueues'
  | 'pauseJob'
  | 'resumeJob'
  | 'pausedJobs'
  | 'holds'
  | 'links'
  | 'tree'
  | 'mend'

/** Reading jobs and changing existing ones. */
export const storeOperations: Performers<Names, Stage> = {
  get: async (stage, { id }) => {
    const record = await stage.backend.store.get(idOf(id))
    return record === null ? null : jobRecord(stage, record)
  },
  list: async (stage, filter) => {
    const records = await stage.backend.store.list(listFilter(filter))
    return records.map((record) => jobRecord(stage, record))
  },
  counts: ({ backend }, { queue, name, root, isSum }) =>
    backend.store.counts({
      oldest: true,
      ...(queue !== undefined && { queue: queueOf(queue) }),
      ...(name !== undefined && { job: nameOf(name) }),
      ...(root !== undefined && { root: rootOf(root) }),
      ...(isSum && { isSum }),
    }),
  cancel: async ({ backend }, { id }) => cancelOutcome(await backend.store.cancel(idOf(id))),
  cancelTree: ({ backend }, { id }) => backend.store.cancel(idOf(id), { tree: true }),
  cancelRoot: ({ backend }, { root }) => backend.store.cancel(rootOf(root), { tree: true }),
  reschedule: async ({ backend, clock }, { id, delay = 0 }) =>
    (await backend.store.amend([{ id: idOf(id), runAt: clock.now() + delay }]))[0],
  amend: async (stage, { jobs = [] }) => {
    const amendments: JobChange[] = []
    for (const { id, as, expected, inAnyState, keepsTime, unblocks, delay } of jobs) {
      if (delay !== undefined) {
        amendments.push({ id: idOf(id), runAt: stage.clock.now() + delay })
        continue
      }
      const envelope = envelopeOf(stage, { ...as, id: id ?? 0 })
      const seal = expected === undefined ? null : await expectedSeal(stage, envelope, expected)
      const options = {
        ...(inAnyState === true && { inAnyState }),
        ...(keepsTime === true && { keepsTime }),
        ...(unblocks === true && { unblocks }),
      }
      amendments.push({ id: idOf(id), expected: seal, envelope, ...options })
    }
    return stage.backend.store.amend(amendments)
  },
  reject: async (stage, { jobs = [] }) => {
    const error = { attempt: 0, at: stage.clock.now(), message: 'it was forged' }
    const rejections = []
    for (const { id, expected = 'current' } of jobs) {
      const other = envelopeOf(stage, { id: id ?? 0, payload: -1 })
      rejections.push({ id: idOf(id), expected: await expectedSeal(stage, other, expected), error })
    }
    return stage.backend.store.amend(rejections)
  },
  retry: ({ backend }, { ids = [] }) => backend.store.retry(ids.map(idOf)),
  remove: (stage, filter) => stage.backend.store.remove(removeFilter(stage, filter)),
  leases: async (stage, { owners = [] }) => {
    const leases = await stage.backend.store.leases({ owners: owners.map(ownerOf) })
    return leases.map((lease) => heldLease(stage, lease))
  },
  leasesOf: async (stage, { ids = [] }) => {
    const leases = await stage.backend.store.leases({ ids: ids.map(idOf) })
    return leases.map((lease) => heldLease(stage, lease))
  },
  pause: ({ backend }, { queue }) => backend.store.setPaused({ queue: queueOf(queue) }, true),
  resume: ({ backend }, { queue }) => backend.store.setPaused({ queue: queueOf(queue) }, false),
  pausedQueues: async ({ backend }) => (await backend.store.paused()).queues,
  pauseJob: ({ backend }, { name }) => backend.store.setPaused({ job: nameOf(name) }, true),
  resumeJob: ({ backend }, { name }) => backend.store.setPaused({ job: nameOf(name) }, false),
  pausedJobs: async ({ backend }) => (await backend.store.paused()).jobs,
  holds: ({ backend, limits }, { id }) => backend.store.holds(idOf(id), claimRules(limits)),
  links: async ({ backend }, { id }) => (await backend.store.links(idOf(id))).map(jobLink),
  tree: ({ backend }, { root }) => treeCounts(backend.store, rootOf(root)),
  mend: ({ backend }, { limit = 100 }) => backend.store.sweep({ part: 'waits', limit }),
}

/** The seal that the job has now, or another one. */
async function expectedSeal({ backend }: Stage, other: Envelope, expected: 'current' | 'other'): Promise<Seal> {
  const record = expected === 'current' ? await backend.store.get(other.id) : null
  return sealOf(record ?? { ...other, payload: '"another one"' })
}

function listFilter({ state, queue, name, group, root, isLinked, tag, before, limit = 100 }: ListSpec) {
  return {
    limit,
    ...(state !== undefined && { state }),
    ...(queue !== undefined && { queue: queueOf(queue) }),
    ...(name !== undefined && { job: nameOf(name) }),
    ...(group !== undefined && { group: groupOf(group) }),
    ...(root !== undefined && { root: rootOf(root) }),
    ...(isLinked && { isLinked }),
    ...(tag !== undefined && { tag: tagOf(tag) }),
    ...(before !== undefined && { before: idOf(before) }),
  }
}

function removeFilter({ clock }: Stage, filter: RemoveSpec) {
  const { state = 'succeeded', ids, finishedBefore, queue, name, except, limit = 100 } = filter
  return {
    state,
    limit,
    ...(ids !== undefined && { ids: ids.map(idOf) }),
    ...(finishedBefore !== undefined && { finishedBefore: clock.now() + finishedBefore }),
    ...(queue !== undefined && { queue: queueOf(queue) }),
    ...(name !== undefined && { job: nameOf(name) }),
    ...(except !== undefined && { exceptJobs: except.map(nameOf) }),
  }
}
