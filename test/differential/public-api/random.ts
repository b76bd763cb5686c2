import { seededRandom } from 'treadle/testing'
import { jobNames, queueNames } from './definitions.ts'
import type { ApiOperation, ApiProgram, Child, DispatchSetup, FilterSetup, JobSetup, Payload, StepSetup } from './program.ts'

/** The program with this seed. */
export function randomApiProgram(seed: number): ApiProgram {
  const some = new Chance(seed)
  const jobs = jobNames.map(() => jobSetup(some))
  const queues = queueNames.map(() => (some.happens(0.2) ? some.of([{ concurrency: 1 }, { concurrency: 2 }, { rate: 2 }]) : {}))
  const length = 6 + some.below(34)
  return { jobs, queues, operations: Array.from({ length }, () => operation(some)) }
}

class Chance {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = seededRandom(seed * 7_919 + 13)
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  happens(share: number): boolean {
    return this.#random() < share
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }

  /** A member that is there with this chance. */
  perhaps<Name extends string, Value>(share: number, name: Name, make: () => Value): { readonly [Key in Name]?: Value } {
    return this.happens(share) ? ({ [name]: make() } as { readonly [Key in Name]: Value }) : {}
  }

  list<Item>(most: number, make: () => Item): readonly Item[] {
    return Array.from({ length: 1 + this.below(most) }, make)
  }

  weighted<Item>(items: readonly (readonly [weight: number, item: Item])[]): Item {
    let left = this.#random() * items.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, item] of items) {
      left -= weight
      if (left < 0) return item
    }
    return (items.at(-1) as readonly [number, Item])[1]
  }
}

const untils = ['started', 'ended', 'ever', 30, 3_600] as const
const conflicts = ['ignore', 'replace', 'merge'] as const
const overlaps = ['allow', 'skip', 'queue'] as const
const misfires = ['latest', 'all', 'skip'] as const
const states = ['ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped'] as const

function jobSetup(some: Chance): JobSetup {
  return {
    ...some.perhaps(0.5, 'retries', () => some.below(3)),
    ...some.perhaps(0.25, 'concurrency', () => 1 + some.below(2)),
    ...some.perhaps(0.12, 'rate', () => 1 + some.below(3)),
    ...(some.happens(0.35) && {
      isGrouped: true,
      ...some.perhaps(0.4, 'groupConcurrency', () => 1 + some.below(2)),
      ...some.perhaps(0.2, 'groupRate', () => 1 + some.below(2)),
    }),
    ...some.perhaps(0.3, 'queue', () => some.below(3)),
    ...some.perhaps(0.3, 'priority', () => some.below(10)),
    ...some.weighted<JobSetup>([
      [5, {}],
      [3, { unique: some.of(untils), ...some.perhaps(0.6, 'onConflict', () => some.of(conflicts)) }],
      [1, { debounce: 10 + some.below(60), ...some.perhaps(0.5, 'maxWait', () => some.below(120)) }],
      [1, { throttle: 10 + some.below(100) }],
    ]),
    ...some.perhaps(0.2, 'isIdempotent', () => true),
    ...some.perhaps(0.1, 'idempotencyTtl', () => some.of([30, 600])),
    ...some.perhaps(0.15, 'keepSucceeded', () => some.of([0, 60])),
    ...some.perhaps(0.1, 'keepDead', () => some.of([0, 60])),
    ...some.perhaps(0.15, 'waitAtMost', () => some.of([60, 600])),
    ...some.perhaps(0.2, 'onChildFailure', () => some.of(['fail', 'ignore', 'continue'] as const)),
    ...some.perhaps(0.15, 'skipsOdd', () => true),
    ...some.perhaps(0.2, 'tags', () => some.list(2, () => some.below(3))),
    ...some.perhaps(0.05, 'isEncrypted', () => true),
    ...some.perhaps(0.1, 'isAtMostOnce', () => true),
    ...some.perhaps(0.2, 'schedule', () => ({
      everyMinutes: some.of([1, 5, 30]),
      ...some.perhaps(0.3, 'isRepeat', () => true),
      ...some.perhaps(0.4, 'overlap', () => some.of(overlaps)),
      ...some.perhaps(0.4, 'misfire', () => some.of(misfires)),
      ...some.perhaps(0.2, 'after', () => some.below(5)),
      ...some.perhaps(0.2, 'dependsOn', () => some.below(5)),
    })),
  }
}

function payload(some: Chance, depth = 0): Payload {
  const acts = [
    [8, 'return'],
    [3, 'fail'],
    [1, 'fail for good'],
    [1, 'fail once'],
    [1, 'snooze once'],
    [1, 'dependencies'],
    [depth < 2 ? 2 : 0, 'children'],
    [depth < 2 ? 1 : 0, 'orphans'],
  ] as const
  const act = some.weighted<NonNullable<Payload['act']>>(acts)
  return {
    act,
    ...some.perhaps(0.5, 'key', () => some.below(3)),
    ...some.perhaps(0.5, 'group', () => some.below(3)),
    ...some.perhaps(0.5, 'number', () => some.below(4)),
    ...some.perhaps(0.1, 'lines', () => 1 + some.below(3)),
    ...some.perhaps(0.1, 'progress', () => 0.5),
    ...((act === 'children' || act === 'orphans') && { children: some.list(3, () => child(some, depth + 1)) }),
    ...(depth < 1 && some.happens(0.2) && { inside: some.list(3, () => operation(some, 1)) }),
  }
}

function child(some: Chance, depth: number): Child {
  return {
    job: some.below(5),
    payload: payload(some, depth),
    ...some.perhaps(0.3, 'key', () => some.below(3)),
    ...some.perhaps(0.4, 'onFailure', () => some.of(['fail', 'ignore', 'continue'] as const)),
    ...some.perhaps(0.2, 'delay', () => some.of([5, 90])),
  }
}

function dispatchSetup(some: Chance): DispatchSetup {
  return {
    ...some.perhaps(0.2, 'delay', () => some.of([0, 1, 15, 60, 600])),
    ...some.perhaps(0.1, 'at', () => some.of([-60, 0, 30, 900])),
    ...some.perhaps(0.2, 'queue', () => some.below(3)),
    ...some.perhaps(0.2, 'priority', () => some.below(10)),
    ...some.perhaps(0.1, 'retries', () => some.below(3)),
    ...some.perhaps(0.15, 'group', () => (some.happens(0.2) ? null : some.below(3))),
    ...some.weighted<DispatchSetup>([
      [7, {}],
      [1, { unique: null }],
      [
        2,
        {
          unique: some.below(3),
          ...some.perhaps(0.6, 'uniqueUntil', () => some.of(untils)),
          ...some.perhaps(0.4, 'onConflict', () => some.of(conflicts)),
        },
      ],
      [0.5, { debounce: 20, ...some.perhaps(0.5, 'maxWait', () => some.below(60)) }],
      [0.5, { throttle: 60 }],
    ]),
    ...some.perhaps(0.1, 'idempotencyKey', () => (some.happens(0.2) ? null : some.below(3))),
    ...some.perhaps(0.15, 'tags', () => some.list(2, () => some.below(3))),
    ...some.perhaps(0.1, 'meta', () => ({ note: some.below(3) })),
    ...(some.happens(0.2) && {
      dependsOn: some.list(3, () => some.below(60)),
      ...some.perhaps(0.6, 'onDependencyFailure', () => some.of(['fail', 'skip', 'ignore', 'continue'] as const)),
      ...some.perhaps(0.2, 'waitAtMost', () => some.of([30, 600])),
    }),
  }
}

function step(some: Chance): StepSetup {
  return {
    job: some.below(5),
    payload: payload(some, 1),
    ...some.perhaps(0.4, 'options', () => dispatchSetup(some)),
    ...some.perhaps(0.8, 'after', () => some.list(2, () => some.below(6))),
    ...some.perhaps(0.5, 'onFailure', () => some.of(['fail', 'skip', 'ignore', 'continue', 'rescue'] as const)),
  }
}

function filter(some: Chance): FilterSetup {
  return {
    ...some.perhaps(0.5, 'state', () => some.of(states)),
    ...some.perhaps(0.3, 'queue', () => some.below(3)),
    ...some.perhaps(0.3, 'job', () => some.below(5)),
    ...some.perhaps(0.2, 'group', () => some.below(3)),
    ...some.perhaps(0.2, 'tag', () => some.below(3)),
    ...some.perhaps(0.1, 'root', () => some.below(60)),
    ...some.perhaps(0.1, 'isLinked', () => true),
    ...some.perhaps(0.2, 'before', () => some.below(60)),
    ...some.perhaps(0.5, 'limit', () => 1 + some.below(8)),
  }
}

const seconds = [1, 5, 20, 60, 61, 300, 900, 3_600, 90_000] as const

function operation(some: Chance, depth = 0): ApiOperation {
  const make = some.weighted<() => ApiOperation>([
    [
      16,
      () => ({
        op: 'dispatch',
        job: some.below(5),
        payload: payload(some, depth),
        options: dispatchSetup(some),
        by: some.of(['builder', 'builder', 'name', 'draft', 'args'] as const),
      }),
    ],
    [
      3,
      () => ({
        op: 'dispatchMany',
        job: some.below(5),
        payloads: some.list(4, () => payload(some, depth)),
        options: dispatchSetup(some),
      }),
    ],
    [3, () => ({ op: 'chain', steps: some.list(4, () => step(some)) })],
    [
      3,
      () => ({
        op: 'batch',
        steps: some.list(3, () => step(some)),
        ...some.perhaps(0.5, 'onSuccess', () => step(some)),
        ...some.perhaps(0.5, 'onFailure', () => step(some)),
        ...some.perhaps(0.5, 'onComplete', () => step(some)),
      }),
    ],
    [3, () => ({ op: 'workflow', steps: some.list(5, () => step(some)) })],
    [
      20,
      () => ({
        op: 'run',
        passes: 1 + some.below(8),
        ...some.perhaps(0.1, 'queue', () => some.below(3)),
        ...some.perhaps(0.1, 'job', () => some.below(5)),
        ...some.perhaps(0.1, 'ageing', () => some.of([1, 60])),
        ...some.perhaps(0.2, 'hasNoScheduler', () => true),
        ...some.perhaps(0.2, 'isOther', () => true),
      }),
    ],
    [12, () => ({ op: 'advance', seconds: some.of(seconds) })],
    [5, () => ({ op: 'cancel', ref: some.below(60), isTree: some.happens(0.3), isWorkflow: some.happens(0.2) })],
    [5, () => ({ op: 'retry', ref: some.below(60), isWorkflow: some.happens(0.2) })],
    [3, () => ({ op: 'reschedule', ref: some.below(60), seconds: some.of([0, 1, 60, 600]) })],
    [3, () => ({ op: 'look', ref: some.below(60), isWorkflow: some.happens(0.3) })],
    [
      4,
      () => ({
        op: 'upsert',
        key: some.below(3),
        job: some.below(5),
        everyMinutes: some.of([1, 5, 30]),
        ...some.perhaps(0.25, 'isRepeat', () => true),
        ...some.perhaps(0.4, 'isCron', () => true),
        payload: payload(some, 1),
        ...some.perhaps(0.4, 'overlap', () => some.of(overlaps)),
        ...some.perhaps(0.4, 'misfire', () => some.of(misfires)),
        ...some.perhaps(0.2, 'until', () => some.of(seconds)),
      }),
    ],
    [
      5,
      () => ({
        op: 'schedule',
        what: some.of(['pause', 'resume', 'delete', 'runNow', 'forget', 'get'] as const),
        key: some.below(5),
        isStored: some.happens(0.6),
      }),
    ],
    [1, () => ({ op: 'dryRun', seconds: some.of(seconds) })],
    [
      1,
      () => ({
        op: 'schedules',
        ...some.perhaps(0.5, 'stored', () => some.happens(0.5)),
        ...some.perhaps(0.3, 'prefix', () => some.of(['plan-', 'a', ''])),
      }),
    ],
    [2, () => ({ op: 'pause', ...some.of([{ queue: some.below(3) }, { job: some.below(5) }]) })],
    [3, () => ({ op: 'resume', ...some.of([{ queue: some.below(3) }, { job: some.below(5) }]) })],
    [2, () => ({ op: 'prune', ...some.perhaps(0.5, 'olderThan', () => some.of([0, 60])) })],
    [3, () => ({ op: 'list', ...filter(some) })],
    [
      3,
      () => ({
        op: 'counts',
        ...some.perhaps(0.3, 'queue', () => some.below(3)),
        ...some.perhaps(0.3, 'job', () => some.below(5)),
        ...some.perhaps(0.3, 'isSum', () => true),
        ...some.perhaps(0.3, 'oldest', () => true),
        ...some.perhaps(0.2, 'root', () => some.below(60)),
      }),
    ],
    [2, () => ({ op: some.of(['retryAll', 'cancelAll', 'removeAll'] as const), ...filter(some) })],
    [
      2,
      () => ({
        op: some.of(['replayDead', 'purgeDead'] as const),
        ...some.perhaps(0.4, 'queue', () => some.below(3)),
        ...some.perhaps(0.3, 'job', () => some.below(5)),
        ...some.perhaps(0.3, 'limit', () => 1 + some.below(3)),
      }),
    ],
    [
      4,
      () => ({
        op: 'take',
        ...some.perhaps(0.5, 'job', () => some.below(5)),
        ...some.perhaps(0.2, 'queue', () => some.below(3)),
        limit: 1 + some.below(3),
        ...some.perhaps(0.3, 'lease', () => some.of([5, 60])),
      }),
    ],
    [
      5,
      () => ({
        op: 'settle',
        held: some.below(12),
        outcome: some.of(['done', 'fail', 'dead', 'release', 'cancelled'] as const),
        ...some.perhaps(0.3, 'delay', () => some.of([0, 30])),
      }),
    ],
    [1, () => ({ op: 'extend', held: some.below(12), lease: some.of([5, 3_600]) })],
    [1, () => ({ op: some.of(['copy', 'delete'] as const), ref: some.below(60) })],
    [
      2,
      () => ({
        op: 'change',
        ref: some.below(60),
        ...some.perhaps(0.5, 'priority', () => some.below(10)),
        ...some.perhaps(0.4, 'seconds', () => some.of([0, 60, 600])),
        ...some.perhaps(0.4, 'payload', () => payload(some, 1)),
      }),
    ],
  ])
  return make()
}
