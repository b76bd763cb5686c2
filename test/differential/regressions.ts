import type { Program } from '../../src/testing/differential/index.ts'

/** Programs on which engines once disagreed, and what about. Paste the smallest program of a new difference here. */
export const regressions: Readonly<Record<string, Program>> = {
  'a job does not wait for another one in whose place it stands itself': {
    operations: [
      {
        op: 'send',
        jobs: [
          { id: 1, unique: 0, waitsFor: [{ on: 2 }] },
          { id: 2, unique: 0 },
        ],
      },
      { op: 'lease' },
    ],
  },
  'a job that is put back waits for one that came after it had failed for want of it': {
    operations: [
      { op: 'send', jobs: [{ id: 9, waitsFor: [{ on: 11 }] }] },
      { op: 'send', jobs: [{ id: 11 }] },
      { op: 'retry', ids: [9] },
      { op: 'lease' },
      { op: 'settle', leases: [{ id: 11 }] },
      { op: 'lease' },
    ],
  },
  'a job that is there is found by its id, whoever has its key by now': {
    operations: [
      { op: 'send', jobs: [{ id: 6 }] },
      { op: 'send', jobs: [{ id: 11, unique: 0 }] },
      { op: 'send', jobs: [{ id: 6, unique: 0 }] },
    ],
  },
  'a job that is not stored because of its number takes no lasting key': {
    operations: [
      { op: 'reserve' },
      { op: 'send', jobs: [{ id: 1, number: 0 }] },
      { op: 'send', jobs: [{ id: 2, number: 0, unique: 0, until: 'ever' }] },
      { op: 'send', jobs: [{ id: 3, unique: 0 }] },
    ],
  },
  'two occurrences with one job': {
    operations: [
      { op: 'enqueue', occurrences: [{ at: 1 }] },
      { op: 'enqueue', occurrences: [{}] },
    ],
  },
  'the follower of an occurrence whose key is taken': {
    operations: [
      { op: 'send', jobs: [{ id: 1, unique: 0 }] },
      {
        op: 'enqueue',
        occurrences: [
          { at: 1_000, job: { id: 2, unique: 0 } },
          { at: 2_000, job: { id: 3 }, follows: 1_000 },
        ],
      },
    ],
  },
  'a job that waits for another one holds no idempotency key': {
    operations: [{ op: 'send', jobs: [{}, { id: 1, waitsFor: [{}] }] }, { op: 'claimOnce', id: 1 }, { op: 'claimOnce' }],
  },
  'an idempotency key after a retry': {
    operations: [
      { op: 'send', jobs: [{ id: 1 }, { id: 2 }] },
      { op: 'lease' },
      { op: 'claimOnce', id: 1 },
      { op: 'settle', leases: [{ id: 1, how: 'retry' }] },
      { op: 'lease' },
      { op: 'claimOnce', id: 2 },
    ],
  },
  'the turn of a group whose ready job gets another time': {
    operations: [
      {
        op: 'send',
        jobs: [
          { id: 7, group: 0 },
          { id: 11, group: 1 },
        ],
      },
      { op: 'reschedule', id: 7 },
      { op: 'lease' },
    ],
  },
  'a job that was asked to stop keeps its time': {
    operations: [
      { op: 'send', jobs: [{ id: 10 }] },
      { op: 'advance' },
      { op: 'lease' },
      { op: 'cancel', id: 10 },
      { op: 'settle', leases: [{ id: 10, how: 'retry' }] },
    ],
  },
  'two settlements of one lease': {
    operations: [
      { op: 'send', jobs: [{ id: 2 }] },
      { op: 'lease' },
      { op: 'settle', leases: [{ id: 2, how: 'again' }, { id: 2 }] },
    ],
  },
  'the token of a running job that is moved to another queue': {
    operations: [
      { op: 'send', jobs: [{ id: 2, group: 0 }] },
      { op: 'lease' },
      { op: 'amend', jobs: [{ id: 2, as: { queue: 1 }, inAnyState: true }] },
      { op: 'report', leases: [{ id: 2 }], progress: 3 },
      { op: 'cancel', id: 2 },
      { op: 'lease' },
      { op: 'extend', leases: [{ id: 2 }] },
      { op: 'settle', leases: [{ id: 2 }] },
    ],
  },
  'jobs that wait for one that is nowhere, and for each other': {
    operations: [
      {
        op: 'send',
        jobs: [
          { id: 6, waitsFor: [{ on: 40 }] },
          { id: 7, waitsFor: [{ on: 40 }, { on: 6 }] },
        ],
      },
    ],
  },
  'a job that is released because another one gives up at the same moment': {
    operations: [
      {
        op: 'send',
        jobs: [
          { id: 1, delay: 5_000 },
          { id: 2, waitsFor: [{ on: 1 }], longestWait: 500 },
          { id: 3, waitsFor: [{ on: 2, policy: 'rescue' }], longestWait: 500 },
        ],
      },
      { op: 'advance' },
      { op: 'lease' },
    ],
  },
  'a kept idempotency key whose time is over is taken by the next run': {
    operations: [
      { op: 'send', jobs: [{}, { id: 9 }] },
      { op: 'lease' },
      { op: 'settle', leases: [{ id: 9, once: { key: 1, keepMs: 0 } }] },
      { op: 'claimOnce', key: 1 },
      { op: 'sweepKeys' },
    ],
  },
  'which of the jobs that ended at the same moment are removed first': {
    operations: [
      { op: 'send', jobs: [{ id: 5 }, { id: 6 }] },
      { op: 'cancel', id: 6 },
      { op: 'lease' },
      { op: 'settle', leases: [{ id: 5, how: 'cancelled' }] },
      { op: 'remove', state: 'cancelled', limit: 1 },
    ],
  },
  'two jobs with one id in one call': { limits: {}, operations: [{ op: 'send', jobs: [{}, {}] }] },
  'two jobs with one id in one call, one of them in another queue': {
    limits: {},
    operations: [{ op: 'send', jobs: [{ id: 1 }, { id: 1, queue: 1 }, { id: 2 }, { id: 2, delay: 5 }] }],
  },
  'one lease that is settled twice in one call': {
    limits: {},
    operations: [
      { op: 'send', jobs: [{ id: 1 }, { id: 2 }] },
      { op: 'lease', limit: 2 },
      { op: 'settle', leases: [{ id: 1 }, { id: 1 }, { id: 2 }] },
    ],
  },
  'jobs that are put back, cancelled or removed twice in one call': {
    limits: {},
    operations: [
      { op: 'send', jobs: [{ id: 1 }, { id: 2 }] },
      { op: 'cancel', id: 1 },
      { op: 'retry', ids: [1, 1] },
      { op: 'amend', jobs: [{ id: 2 }, { id: 2 }] },
      { op: 'reject', jobs: [{ id: 2 }, { id: 2 }] },
    ],
  },
  'a run that was begun, failed, and is claimed again and lost': {
    operations: [
      { op: 'send', jobs: [{ id: 1 }] },
      { op: 'lease', leaseMs: 1_000 },
      { op: 'begin', leases: [{ id: 1 }] },
      { op: 'settle', leases: [{ id: 1, how: 'retry' }] },
      { op: 'lease', leaseMs: 1_000 },
      { op: 'advance', ms: 5_000 },
      { op: 'reap' },
    ],
  },
  'jobs whose ids do not rise are listed and removed in the order of their ids': {
    operations: [
      { op: 'send', jobs: [{ id: 2 }, { id: 1 }] },
      { op: 'send', jobs: [{}] },
      { op: 'list', before: 2, limit: 1 },
      { op: 'cancel' },
      { op: 'cancel', id: 2 },
      { op: 'cancel', id: 1 },
      { op: 'remove', state: 'cancelled', limit: 1 },
    ],
  },
  'a job that another one waits for is no part of a workflow': {
    operations: [
      {
        op: 'send',
        jobs: [
          { id: 1, waitsFor: [{ on: 2 }] },
          { id: 2, name: 2 },
        ],
      },
      { op: 'list', name: 2, isLinked: true },
    ],
  },
  'the same, where the job that is waited for has a group, runs, or has ended': {
    operations: [
      {
        op: 'send',
        jobs: [
          { id: 1, waitsFor: [{ on: 2 }] },
          { id: 2, name: 2, group: 1 },
        ],
      },
      { op: 'list', group: 1, isLinked: true },
      { op: 'lease' },
      { op: 'list', name: 2, isLinked: true },
      { op: 'settle', leases: [{ id: 2 }] },
      { op: 'list', name: 2, state: 'succeeded', isLinked: true },
      { op: 'list', state: 'succeeded', isLinked: true },
    ],
  },
  'the sum of one queue': {
    operations: [
      { op: 'send', jobs: [{}, { id: 1, queue: 1, delay: -5 }, { id: 2, queue: 1, name: 1 }] },
      { op: 'counts', queue: 1, isSum: true },
      { op: 'counts', queue: 2, isSum: true },
      { op: 'counts', name: 1, isSum: true },
      { op: 'counts', isSum: true },
    ],
  },
  'two occurrences of one instant, of which the first has the id of another job': {
    operations: [
      { op: 'send', jobs: [{ id: 4 }] },
      { op: 'enqueue', occurrences: [{ job: { id: 4 } }, { job: { id: 5 } }] },
      {
        op: 'enqueue',
        occurrences: [
          { at: 500, job: { id: 4 } },
          { at: 1_000, job: { id: 6 }, follows: 500 },
          { at: 2_000, job: { id: 7 }, follows: 0 },
        ],
      },
    ],
  },
  'occurrences in groups take turns with the other jobs of their key': {
    operations: [
      { op: 'enqueue', occurrences: [{ at: 1, job: { group: 0 } }] },
      { op: 'advance' },
      { op: 'send', jobs: [{ id: 1, group: 1 }] },
      { op: 'send', jobs: [{ id: 2, group: 0 }] },
      { op: 'lease', limit: 2 },
      { op: 'settle', leases: [{}, { id: 1 }] },
      { op: 'lease' },
      { op: 'settle', leases: [{ id: 2, how: 'again', as: {} }] },
      { op: 'lease' },
    ],
  },
  'an occurrence in a group that runs again without one': {
    operations: [
      { op: 'enqueue', occurrences: [{ job: { group: 0 } }] },
      { op: 'lease' },
      { op: 'settle', leases: [{ how: 'again' }] },
      { op: 'lease' },
      { op: 'settle', leases: [{}] },
    ],
  },
  'a group whose only ready job is cancelled as another one of it is released waits at the end': {
    operations: [
      { op: 'send', jobs: [{ id: 6, group: 2 }] },
      { op: 'send', jobs: [{ id: 12, group: 2, waitsFor: [{ on: 6, policy: 'continue' }] }] },
      { op: 'send', jobs: [{ id: 0, group: 0 }] },
      { op: 'cancel', id: 6 },
      { op: 'lease' },
      { op: 'lease' },
    ],
  },
  'how long a key is held that is not there': {
    operations: [{ op: 'send', jobs: [{ until: 'ever' }, { id: 1, until: 5_000 }] }, { op: 'lease' }],
  },
  'two jobs with one id in one call, of which the first has a key that is taken': {
    operations: [
      { op: 'send', jobs: [{ id: 1, unique: 0 }] },
      { op: 'send', jobs: [{ id: 2, unique: 0 }, { id: 2 }, { id: 2 }] },
    ],
  },
  'two jobs with one id in one call, of which the first has a number that is taken': {
    operations: [
      { op: 'reserve' },
      { op: 'send', jobs: [{ id: 1, number: 0 }] },
      { op: 'send', jobs: [{ id: 2, number: 0 }, { id: 2, payload: 2 }, { id: 3 }] },
      { op: 'send', jobs: [{ id: 4, number: 0, tags: [1] }, { id: 4 }] },
    ],
  },
  'a job that waits for two envelopes, in whose place is one job': {
    operations: [
      {
        op: 'send',
        jobs: [
          { id: 1, unique: 0 },
          { id: 2, unique: 0 },
          {
            id: 3,
            waitsFor: [
              { on: 1, policy: 'rescue' },
              { on: 2, policy: 'skip' },
            ],
          },
        ],
      },
      { op: 'lease' },
      { op: 'settle', leases: [{ id: 1, how: 'dead' }] },
    ],
  },
  'a workflow whose jobs are on two pages is read once': {
    operations: [
      { op: 'send', jobs: [{}, { id: 1, root: 0 }, { id: 2, waitsFor: [{ on: 1 }] }, { id: 3, root: 0, queue: 1 }] },
      { op: 'readUnits', limit: 1 },
      { op: 'readUnits', limit: 2 },
      { op: 'readUnits', limit: 2, queue: 1 },
    ],
  },
  'a list of the members of a workflow with a tag': {
    operations: [
      { op: 'send', jobs: [{ root: 1 }, { id: 1, root: 1, tags: [0] }, { id: 2, tags: [0] }] },
      { op: 'list', root: 1, tag: 0 },
    ],
  },
  'a job that is here is not the job of an occurrence that another queue knows': {
    operations: [
      { op: 'enqueue', occurrences: [{ at: 500, job: { id: 1 } }] },
      { op: 'send', jobs: [{ id: 2 }] },
      { op: 'advance' },
      {
        op: 'learn',
        facts: [
          { kind: 'occurrence', at: 0, id: 1 },
          { kind: 'occurrence', at: 1, id: 2 },
          { kind: 'occurrence', at: 2, id: 3, outcome: 'dead' },
        ],
      },
      { op: 'lease' },
      { op: 'settle', leases: [{ id: 1 }, { id: 2 }] },
    ],
  },
  'a group whose only ready job moves to another queue waits at the end': {
    operations: [
      { op: 'send', jobs: [{ group: 1 }] },
      { op: 'moveAway' },
      {
        op: 'send',
        jobs: [
          { id: 1, group: 0 },
          { id: 2, group: 1 },
        ],
      },
      { op: 'lease', limit: 1 },
    ],
  },
  'a job that runs again under another name and in another group is listed there': {
    operations: [
      { op: 'send', jobs: [{}] },
      { op: 'lease' },
      { op: 'settle', leases: [{ how: 'again', as: { name: 1, group: 0 } }] },
      { op: 'list', name: 1 },
      { op: 'list', name: 0 },
      { op: 'list', group: 0 },
    ],
  },
  'jobs of one call take turns in its order, although one of them waits for a job that is nowhere': {
    operations: [
      {
        op: 'send',
        jobs: [
          { group: 0, waitsFor: [{ on: 9, policy: 'rescue' }] },
          { id: 2, group: 1 },
        ],
      },
      { op: 'lease' },
    ],
  },
  'two jobs that once had one unique key move on one page': {
    operations: [
      { op: 'send', jobs: [{ unique: 0 }] },
      { op: 'cancel' },
      { op: 'send', jobs: [{ id: 1, unique: 0 }] },
      { op: 'cancel', id: 1 },
      { op: 'retry', ids: [0] },
      { op: 'moveAway', limit: 5 },
    ],
  },
  'whose turn it is among groups that have become equally busy in one claim': {
    operations: [
      { op: 'send', jobs: [{ group: 0, priority: 1 }] },
      { op: 'lease' },
      {
        op: 'send',
        jobs: [
          { id: 1, group: 0, queue: 1 },
          { id: 2, group: 1, queue: 1 },
          { id: 3, group: 1, delay: -1_000 },
        ],
      },
      { op: 'lease' },
    ],
  },
  'groups that arrive in one call wait in the order in which its changes make their jobs ready': {
    operations: [
      { op: 'send', jobs: [{ id: 1 }, { id: 2 }] },
      {
        op: 'amend',
        jobs: [
          { id: 2, delay: -1_000 },
          { id: 1, as: { group: 0 } },
          { id: 2, as: { group: 1, delay: -1_000 } },
        ],
      },
      { op: 'lease' },
    ],
  },
  'older jobs get lower numbers': {
    operations: [
      { op: 'send', jobs: [{}, { id: 1 }] },
      { op: 'assign', ids: [1, 0] },
    ],
  },
  'no events are read': {
    operations: [
      { op: 'recordEvents', chunks: [{}] },
      { op: 'readEvents', limit: 0 },
    ],
  },
  'the idempotency key of a job that waits for its children moves with it': {
    operations: [
      { op: 'send', jobs: [{ id: 2 }] },
      { op: 'lease' },
      { op: 'send', jobs: [{ id: 3, parent: { id: 2 } }] },
      { op: 'claimOnce', id: 2 },
      { op: 'settle', leases: [{ id: 2, how: 'wait' }] },
      { op: 'readUnits' },
      { op: 'moveAway' },
      { op: 'moveBack' },
      { op: 'claimOnce', id: 3 },
    ],
  },
}
