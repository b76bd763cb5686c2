import fc from 'fast-check'
import type { FailurePolicy } from '../../src/envelope/envelope.ts'

/** One step of a program. Jobs and leases are named by numbers that are taken modulo what there is, so that every part of a program is one too. */
export type Operation =
  | { readonly op: 'send'; readonly jobs: readonly JobSpec[] }
  | {
      readonly op: 'claim'
      readonly owner: string
      readonly limit: number
      readonly leaseMs: number
      readonly job: number | null
      readonly queue: string | null
      readonly ageingMs: number | null
    }
  | { readonly op: 'settle'; readonly pick: number; readonly how: How; readonly delayMs: number; readonly keep: boolean }
  | { readonly op: 'begin' | 'extend' | 'late'; readonly pick: number }
  | { readonly op: 'child'; readonly pick: number; readonly key: number; readonly spec: JobSpec; readonly policy: FailurePolicy }
  | { readonly op: 'crash'; readonly owner: string }
  | { readonly op: 'advance'; readonly ms: number }
  | { readonly op: 'cancel' | 'cancelTree' | 'replay' | 'remove'; readonly pick: number }
  | { readonly op: 'amend'; readonly pick: number; readonly spec: JobSpec; readonly inAnyState: boolean }
  | { readonly op: 'reschedule'; readonly pick: number; readonly delayMs: number }
  | { readonly op: 'pause' | 'resume'; readonly queue: string }
  | { readonly op: 'register'; readonly schedule: number; readonly expression: number; readonly version: number }
  | EnqueueOperation
  | { readonly op: 'pauseSchedule' | 'resumeSchedule' | 'removeSchedule'; readonly schedule: number }
  | { readonly op: 'skipWaiting'; readonly schedule: number; readonly instant: number; readonly unseenOnly: boolean }
  | { readonly op: 'markSeen'; readonly schedule: number; readonly instant: number }
  | { readonly op: 'claimOnce'; readonly pick: number; readonly key: number }
  | { readonly op: 'lock'; readonly name: number; readonly owner: string; readonly ms: number }
  | { readonly op: 'unlock'; readonly name: number; readonly owner: string }
  | { readonly op: 'number'; readonly pick: number }

export interface EnqueueOperation {
  readonly op: 'enqueue'
  readonly schedule: number
  /** One of `instants`. */
  readonly instant: number
  readonly spec: JobSpec
  /** Null is any; a number is one of `instants`. */
  readonly follows: number | 'none' | null
  readonly version: number | null
  readonly registered: boolean
}

/** From the start of the program: some have passed and some come. */
export const instants = [-1_000, 0, 500, 1_000, 5_000, 20_000] as const

export const scheduleNumbers = [0, 1] as const

export type How = 'done' | 'fail' | 'snooze' | 'cancelled' | 'skipped' | 'wait' | 'again'

export interface JobSpec {
  readonly job: number
  readonly queue: string
  readonly priority: number
  readonly delayMs: number
  readonly group: string | null
  readonly uniqueKey: string | null
  readonly uniqueUntil: 'started' | 'ended' | 'ever' | 'soon'
  readonly maxAttempts: number
  /** Jobs that were sent before. */
  readonly waitsFor: readonly number[]
  readonly policy: FailurePolicy
}

export interface LimitSpec {
  readonly concurrency: number | null
  readonly rate: RateSpec | null
  readonly groupConcurrency: number | null
  readonly groupRate: RateSpec | null
}

export interface RateSpec {
  readonly limit: number
  readonly perMs: number
}

export interface ProgramSpec {
  /** By job: 0 has no limits, so that programs without any are common too. */
  readonly limits: readonly LimitSpec[]
  readonly queueRate: RateSpec | null
  readonly queueConcurrency: number | null
  readonly operations: readonly Operation[]
}

const owners = fc.constantFrom('worker-1', 'worker-2', 'worker-3')
const queues = fc.constantFrom('a', 'b')
const pick = fc.nat({ max: 30 })
const delays = fc.constantFrom(0, 0, 0, 500, 5_000)
const policy = fc.constantFrom<FailurePolicy>('fail', 'fail', 'skip', 'ignore', 'continue', 'rescue')
const childPolicy = fc.constantFrom<FailurePolicy>('fail', 'ignore', 'continue')
const rate = fc.record({ limit: fc.integer({ min: 1, max: 3 }), perMs: fc.constantFrom(1_000, 7_000) })

function rarely<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.option(value, { freq: 2, nil: null })
}

const job = fc.record({
  job: fc.nat({ max: 2 }),
  queue: queues,
  priority: fc.nat({ max: 2 }),
  delayMs: delays,
  group: fc.constantFrom(null, 'acme', 'bolt', 'cog'),
  uniqueKey: fc.constantFrom(null, null, null, 'x', 'y'),
  uniqueUntil: fc.constantFrom<JobSpec['uniqueUntil']>('started', 'ended', 'ever', 'soon'),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  waitsFor: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(pick, { minLength: 1, maxLength: 3 }) },
  ),
  policy,
})

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: fc.constant('send' as const), jobs: fc.array(job, { minLength: 1, maxLength: 4 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('claim' as const),
      owner: owners,
      limit: fc.integer({ min: 1, max: 5 }),
      leaseMs: fc.constantFrom(1_000, 3_000),
      job: rarely(fc.nat({ max: 2 })),
      queue: rarely(queues),
      ageingMs: rarely(fc.constant(500)),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('settle' as const),
      pick,
      how: fc.constantFrom<How>('done', 'done', 'fail', 'fail', 'snooze', 'cancelled', 'skipped', 'wait', 'again'),
      delayMs: delays,
      keep: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom('begin' as const, 'extend' as const, 'late' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('child' as const), pick, key: fc.nat({ max: 2 }), spec: job, policy: childPolicy }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('crash' as const), owner: owners }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('advance' as const), ms: fc.constantFrom(1, 400, 1_000, 3_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constantFrom('cancel' as const, 'cancelTree' as const, 'replay' as const), pick }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('remove' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('amend' as const), pick, spec: job, inAnyState: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('reschedule' as const), pick, delayMs: delays }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constantFrom('pause' as const, 'resume' as const), queue: queues }) },
)

const schedule = fc.constantFrom(...scheduleNumbers)
const instant = fc.nat({ max: instants.length - 1 })

const scheduling: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('register' as const),
      schedule,
      expression: fc.nat({ max: 1 }),
      version: fc.nat({ max: 1 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('enqueue' as const),
      schedule,
      instant,
      spec: job,
      follows: rarely(fc.oneof(instant, fc.constant('none' as const))),
      version: rarely(fc.nat({ max: 1 })),
      registered: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constantFrom('pauseSchedule' as const, 'resumeSchedule' as const, 'removeSchedule' as const),
      schedule,
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('skipWaiting' as const), schedule, instant, unseenOnly: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('markSeen' as const), schedule, instant }) },
)

const sharing: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ op: fc.constant('claimOnce' as const), pick, key: fc.nat({ max: 1 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('lock' as const),
      name: fc.nat({ max: 1 }),
      owner: owners,
      ms: fc.constantFrom(500, 2_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('unlock' as const), name: fc.nat({ max: 1 }), owner: owners }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('number' as const), pick }) },
)

const unlimited: LimitSpec = { concurrency: null, rate: null, groupConcurrency: null, groupRate: null }

const limits: fc.Arbitrary<LimitSpec> = fc.record({
  concurrency: rarely(fc.integer({ min: 1, max: 2 })),
  rate: rarely(rate),
  groupConcurrency: rarely(fc.integer({ min: 1, max: 2 })),
  groupRate: rarely(rate),
})

export const programs: fc.Arbitrary<ProgramSpec> = fc.record({
  limits: fc.tuple(fc.constant(unlimited), limits, limits),
  queueRate: rarely(rate),
  queueConcurrency: rarely(fc.integer({ min: 1, max: 3 })),
  operations: fc.array(
    fc.oneof({ weight: 6, arbitrary: operation }, { weight: 2, arbitrary: scheduling }, { weight: 1, arbitrary: sharing }),
    { minLength: 5, maxLength: 40 },
  ),
})
