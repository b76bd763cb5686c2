import { finalStates, jobStates } from '../../../queue/contract/job-state.ts'
import type { OperationName, OperationOf, PageSpec } from '../program.ts'
import type { Chance } from './chance.ts'
import { anyJob, compact, type KnownJobs, type Loose, randomJob, randomLimits, randomPlace, spans } from './jobs.ts'
import { randomFact, randomInstant, randomOccurrence, randomOccurrenceRef, randomSchedule } from './schedules.ts'
import { randomLease, randomSettlement } from './settlements.ts'

export interface Choosing {
  readonly chance: Chance
  readonly known: KnownJobs
  /** The number of a job that has not been sent yet. */
  readonly newId: () => number
}

/** The weight of an operation, and how to create it. */
interface Choice<Name extends OperationName> {
  readonly weight: number
  readonly make: (choosing: Choosing) => Loose<Omit<OperationOf<Name>, 'op'>>
}

export const choices: { readonly [Name in OperationName]: Choice<Name> } = {
  send: {
    weight: 100,
    make: ({ chance, known, newId }) => ({
      jobs: chance.some(chance.once(4) ? 6 : 3, () => randomJob(chance, newId(), known)),
    }),
  },
  lease: {
    weight: 110,
    make: ({ chance }) => ({
      owner: chance.below(3),
      limit: chance.rarely(2, () => chance.between(0, 3)),
      leaseMs: chance.rarely(3, () => chance.of([500, 5_000])),
      names: chance.rarely(5, () => [chance.below(3)]),
      queues: chance.rarely(5, () => [chance.below(2)]),
      priority: chance.rarely(12, () => chance.between(-1, 1)),
      ageingMs: chance.rarely(8, () => chance.of([1, 500])),
      maxRescues: chance.rarely(4, () => chance.between(0, 2)),
      amongOthers: chance.rarely(6, () => true),
      limits: chance.rarely(6, () => randomLimits(chance)),
      others: chance.rarely(10, () => chance.of(['all', 'some'])),
    }),
  },
  settle: {
    weight: 120,
    make: ({ chance, known }) => ({ leases: chance.some(chance.once(3) ? 4 : 1, () => randomSettlement(chance, known)) }),
  },
  advance: { weight: 60, make: ({ chance }) => ({ ms: chance.of([1, 499, 500, 1_000, 2_000, 5_000]) }) },
  begin: { weight: 6, make: ({ chance, known }) => ({ leases: chance.some(2, () => randomLease(chance, known)) }) },
  report: {
    weight: 5,
    make: ({ chance, known }) => ({ leases: chance.some(2, () => randomLease(chance, known)), progress: chance.below(9) }),
  },
  extend: {
    weight: 10,
    make: ({ chance, known }) => ({
      leases: chance.some(2, () => randomLease(chance, known)),
      ms: chance.of([500, 2_000]),
      alone: chance.rarely(3, () => true),
    }),
  },
  reap: {
    weight: 10,
    make: ({ chance }) => ({ maxRescues: chance.between(0, 2), dead: chance.rarely(3, () => [chance.below(3)]) }),
  },
  get: { weight: 3, make: ({ chance, known }) => ({ id: anyJob(chance, known.all, known) }) },
  list: {
    weight: 12,
    make: ({ chance, known }) => ({
      state: chance.rarely(2, () => chance.of(jobStates)),
      queue: chance.rarely(4, () => chance.below(3)),
      name: chance.rarely(4, () => chance.below(3)),
      group: chance.rarely(5, () => chance.below(3)),
      root: chance.rarely(5, () => chance.below(3)),
      isLinked: chance.rarely(5, () => true as const),
      tag: chance.rarely(5, () => chance.below(3)),
      before: chance.rarely(3, () => anyJob(chance, known.all, known)),
      limit: chance.rarely(2, () => chance.between(0, 3)),
    }),
  },
  counts: {
    weight: 4,
    make: ({ chance }) => ({
      queue: chance.rarely(3, () => chance.below(3)),
      name: chance.rarely(3, () => chance.below(3)),
      root: chance.rarely(5, () => chance.below(3)),
      isSum: chance.rarely(3, () => true as const),
    }),
  },
  cancel: { weight: 14, make: ({ chance, known }) => ({ id: anyJob(chance, known.all, known) }) },
  cancelTree: { weight: 7, make: ({ chance, known }) => ({ id: anyJob(chance, known.all, known) }) },
  cancelRoot: { weight: 3, make: ({ chance }) => ({ root: chance.below(3) }) },
  reschedule: {
    weight: 14,
    make: ({ chance, known }) => ({
      id: anyJob(chance, known.waiting, known),
      delay: chance.rarely(2, () => chance.of([-1_000, ...spans])),
    }),
  },
  amend: {
    weight: 18,
    make: ({ chance, known }) => ({
      jobs: chance.some(chance.once(3) ? 4 : 2, () =>
        compact({
          id: anyJob(chance, chance.once(2) ? known.waiting : known.all, known),
          delay: chance.rarely(6, () => chance.of([-1_000, ...spans])),
          as: randomPlace(chance),
          expected: chance.rarely(3, () => (chance.once(3) ? 'other' : 'current')),
          inAnyState: chance.rarely(2, () => true),
          keepsTime: chance.rarely(3, () => true),
          unblocks: chance.rarely(4, () => true),
        }),
      ),
    }),
  },
  reject: {
    weight: 6,
    make: ({ chance, known }) => ({
      jobs: [compact({ id: anyJob(chance, known.waiting, known), expected: chance.rarely(4, () => 'other' as const) })],
    }),
  },
  retry: { weight: 18, make: ({ chance, known }) => ({ ids: chance.some(3, () => anyJob(chance, known.ended, known)) }) },
  remove: {
    weight: 12,
    make: ({ chance, known }) => ({
      state: chance.of(finalStates),
      ids: chance.rarely(2, () => chance.some(3, () => anyJob(chance, known.ended, known))),
      finishedBefore: chance.rarely(4, () => -chance.of(spans)),
      queue: chance.rarely(6, () => chance.below(2)),
      name: chance.rarely(6, () => chance.below(3)),
      except: chance.rarely(6, () => [chance.below(3)]),
      limit: chance.rarely(3, () => chance.between(0, 2)),
    }),
  },
  leases: { weight: 4, make: ({ chance }) => ({ owners: chance.some(2, () => chance.below(3)) }) },
  leasesOf: { weight: 3, make: ({ chance, known }) => ({ ids: chance.some(3, () => anyJob(chance, known.running, known)) }) },
  pause: { weight: 4, make: ({ chance }) => ({ queue: chance.below(2) }) },
  resume: { weight: 5, make: ({ chance }) => ({ queue: chance.below(2) }) },
  pausedQueues: { weight: 1, make: () => ({}) },
  pauseJob: { weight: 3, make: ({ chance }) => ({ name: chance.below(3) }) },
  resumeJob: { weight: 4, make: ({ chance }) => ({ name: chance.below(3) }) },
  pausedJobs: { weight: 1, make: () => ({}) },
  log: {
    weight: 10,
    make: ({ chance, known }) => ({
      chunks: chance.some(3, () =>
        compact({
          id: anyJob(chance, chance.once(3) ? known.all : known.running, known),
          attempt: chance.rarely(3, () => chance.between(1, 3)),
          lines: chance.rarely(2, () => chance.between(1, 4)),
          dropped: chance.rarely(5, () => chance.between(1, 9)),
          bytes: chance.rarely(4, () => chance.of([1, 50, 200])),
        }),
      ),
      mostLines: chance.rarely(3, () => chance.between(1, 6)),
      mostBytes: chance.rarely(4, () => chance.of([1, 100, 300])),
    }),
  },
  logs: {
    weight: 6,
    make: ({ chance, known }) => ({
      id: anyJob(chance, known.all, known),
      after: chance.rarely(3, () => chance.below(6)),
      limit: chance.rarely(3, () => chance.between(0, 2)),
    }),
  },
  sweepLogs: { weight: 2, make: () => ({}) },
  holds: { weight: 8, make: ({ chance, known }) => ({ id: anyJob(chance, known.waiting, known) }) },
  links: { weight: 3, make: ({ chance, known }) => ({ id: anyJob(chance, known.all, known) }) },
  tree: { weight: 2, make: ({ chance }) => ({ root: chance.below(3) }) },
  mend: { weight: 3, make: () => ({}) },
  reserve: { weight: 6, make: ({ chance }) => ({ count: chance.rarely(2, () => chance.between(1, 3)) }) },
  assign: { weight: 5, make: ({ chance, known }) => ({ ids: chance.some(3, () => anyJob(chance, known.all, known)) }) },
  find: { weight: 3, make: ({ chance }) => ({ numbers: chance.some(3, () => chance.below(10)) }) },
  claimOnce: {
    weight: 16,
    make: ({ chance, known }) => ({
      key: chance.below(2),
      id: anyJob(chance, chance.once(4) ? known.all : known.running, known),
    }),
  },
  sweepKeys: { weight: 6, make: ({ chance }) => ({ limit: chance.rarely(3, () => chance.between(0, 2)) }) },
  lock: {
    weight: 6,
    make: ({ chance }) => ({ name: chance.below(2), owner: chance.below(2), ms: chance.of([0, 500, 2_000]) }),
  },
  unlock: { weight: 4, make: ({ chance }) => ({ name: chance.below(2), owner: chance.below(2) }) },
  announce: {
    weight: 5,
    make: ({ chance }) => ({ owner: chance.below(3), ms: chance.of([0, 500, 2_000]), running: chance.below(3) }),
  },
  leave: { weight: 2, make: ({ chance }) => ({ owner: chance.below(3) }) },
  workers: { weight: 2, make: () => ({}) },
  recordEvents: {
    weight: 2,
    make: ({ chance }) => ({
      chunks: chance.some(3, () =>
        compact({ events: chance.rarely(2, () => chance.between(1, 3)), dropped: chance.rarely(3, () => chance.between(1, 3)) }),
      ),
    }),
  },
  readEvents: {
    weight: 2,
    make: ({ chance }) => ({
      after: chance.rarely(2, () => chance.below(6)),
      limit: chance.rarely(2, () => chance.between(0, 2)),
    }),
  },
  register: { weight: 10, make: ({ chance }) => ({ entries: chance.some(2, () => randomSchedule(chance)) }) },
  enqueue: {
    weight: 20,
    make: ({ chance, known, newId }) => ({ occurrences: chance.some(3, () => randomOccurrence(chance, newId(), known)) }),
  },
  findOccurrences: { weight: 2, make: ({ chance }) => ({ keys: chance.some(3, () => randomOccurrenceRef(chance)) }) },
  markSeen: { weight: 4, make: ({ chance }) => ({ keys: chance.some(2, () => randomOccurrenceRef(chance)) }) },
  neighbours: { weight: 6, make: ({ chance }) => randomOccurrenceRef(chance) },
  recent: {
    weight: 3,
    make: ({ chance }) => ({ ...randomOccurrenceRef(chance), limit: chance.rarely(2, () => chance.between(0, 2)) }),
  },
  skipWaiting: {
    weight: 5,
    make: ({ chance }) => ({
      schedule: chance.below(3),
      before: randomInstant(chance),
      unseenOnly: chance.rarely(2, () => true),
    }),
  },
  pauseSchedule: { weight: 3, make: ({ chance }) => ({ schedule: chance.below(3) }) },
  resumeSchedule: { weight: 3, make: ({ chance }) => ({ schedule: chance.below(3) }) },
  removeSchedule: { weight: 2, make: ({ chance }) => ({ schedule: chance.below(3) }) },
  standings: { weight: 2, make: ({ chance }) => ({ schedules: chance.rarely(2, () => [chance.below(3)]) }) },
  schedules: { weight: 2, make: () => ({}) },
  scheduleChanges: {
    weight: 3,
    make: ({ chance }) => ({
      limit: chance.rarely(2, () => chance.between(1, 2)),
      fromStart: chance.rarely(3, () => true as const),
    }),
  },
  forget: {
    weight: 4,
    make: ({ chance }) => ({ before: randomInstant(chance), limit: chance.rarely(3, () => chance.between(0, 2)) }),
  },
  revision: { weight: 3, make: () => ({}) },
  readUnits: { weight: 6, make: ({ chance }) => randomPage(chance) },
  moveAway: { weight: 6, make: ({ chance }) => randomPage(chance) },
  moveBack: { weight: 6, make: ({ chance }) => ({ limit: chance.between(1, 3) }) },
  facts: { weight: 3, make: ({ chance }) => ({ limit: chance.between(1, 3) }) },
  learn: { weight: 6, make: ({ chance, known }) => ({ facts: chance.some(2, () => randomFact(chance, known)) }) },
}

function randomPage(chance: Chance): PageSpec {
  return compact({
    queue: chance.rarely(2, () => chance.below(2)),
    limit: chance.between(1, 3),
    createdBefore: chance.rarely(4, () => -1),
  })
}
