import { jobId, jobName, queueName } from './job-shapes.ts'
import {
  anything,
  choice,
  duration,
  input,
  instant,
  integer,
  list,
  literal,
  nullable,
  object,
  record,
  text,
  type ValueOf,
  words,
} from './shape.ts'

export const leaseToken = text({ description: 'The secret of the holder of the lease.', minLength: 1, maxLength: 200 })

export const leaseRequest = input(
  {
    jobs: list(jobName, {
      description:
        'The names of the jobs that the worker can do. `*` stands for any text, `?` for one character, `[a-z]` for one of a set.',
      minItems: 1,
      maxItems: 200,
    }),
  },
  {
    queues: list(queueName, { description: 'Only from these queues; all of them by default.', minItems: 1, maxItems: 200 }),
    limit: integer({ description: 'The maximum number at once.', minimum: 1, maximum: 1_000, default: 1 }),
    lease: duration({
      description: 'How long the jobs stay with a worker that does not extend them; 30 s by default, 1 s to 12 h.',
    }),
    wait: duration({ description: 'How long to wait for work when there is none; 0 by default, at most 60 s.' }),
    owner: text({ description: 'What people read as the worker of these jobs.', minLength: 1, maxLength: 200 }),
  },
)
/** Which jobs to claim, how many, and how long to wait. */
export type LeaseRequest = ValueOf<typeof leaseRequest>

/** A worker's claim on one job. */
export const lease = object({
  token: leaseToken,
  id: jobId,
  job: jobName,
  name: text(),
  queue: queueName,
  payload: anything(),
  meta: record(anything()),
  attempt: integer({ description: '1 for the first run.' }),
  maxRetries: integer(),
  timeoutMs: nullable(integer({ description: 'How long this attempt may take.' })),
  createdAt: instant(),
  expiresAt: instant({ description: 'When the lease ends, unless it is extended.' }),
})
/** A claimed job, with the token that settles it. */
export type Lease = ValueOf<typeof lease>

export const leases = object({ leases: list(lease) })

const failure = input(
  { message: text({ description: 'What went wrong; cut to 2,000 characters.' }) },
  { code: text({ maxLength: 100 }), stack: text() },
)

const delay = duration({ description: 'How long to wait before it may run again.' })

const held = { id: jobId, token: leaseToken }

const done = { outcome: literal('done') }
const fail = { outcome: literal('fail'), error: failure }
const dead = { outcome: literal('dead'), error: failure }
const release = { outcome: literal('release') }
const cancelled = { outcome: literal('cancelled') }

const result = anything({ description: 'What the job gave.' })

const meanings = {
  done: { description: 'The work is done.' },
  fail: {
    description:
      'The attempt failed. It is tried again while the job has retries left, after this delay or the default one; else it is dead.',
  },
  dead: { description: 'Retrying cannot help: it is dead at once.' },
  release: { description: 'Back to the queue, as if it had never been claimed; without a delay, to the place that it had.' },
  cancelled: { description: 'It was asked to stop, and has stopped.' },
}

/** How the lease of one job ends. */
export const settleShapes = {
  SettleDone: input({ token: leaseToken, ...done }, { result }, meanings.done),
  SettleFail: input({ token: leaseToken, ...fail }, { delay }, meanings.fail),
  SettleDead: input({ token: leaseToken, ...dead }, {}, meanings.dead),
  SettleRelease: input({ token: leaseToken, ...release }, { delay }, meanings.release),
  SettleCancelled: input({ token: leaseToken, ...cancelled }, {}, meanings.cancelled),
}
const { SettleDone, SettleFail, SettleDead, SettleRelease, SettleCancelled } = settleShapes
export const settlement = choice('outcome', [SettleDone, SettleFail, SettleDead, SettleRelease, SettleCancelled])
/** How a claimed job ended. */
export type Settlement = ValueOf<typeof settlement>

/** The same for one job among many. */
export const settleOneShapes = {
  SettleOneDone: input({ ...held, ...done }, { result }, meanings.done),
  SettleOneFail: input({ ...held, ...fail }, { delay }, meanings.fail),
  SettleOneDead: input({ ...held, ...dead }, {}, meanings.dead),
  SettleOneRelease: input({ ...held, ...release }, { delay }, meanings.release),
  SettleOneCancelled: input({ ...held, ...cancelled }, {}, meanings.cancelled),
}
const { SettleOneDone, SettleOneFail, SettleOneDead, SettleOneRelease, SettleOneCancelled } = settleOneShapes
export const settlements = input({
  settlements: list(choice('outcome', [SettleOneDone, SettleOneFail, SettleOneDead, SettleOneRelease, SettleOneCancelled]), {
    minItems: 1,
    maxItems: 1_000,
  }),
})
/** How several claimed jobs ended, in one request. */
export type Settlements = ValueOf<typeof settlements>

const receipts = ['done', 'blocked', 'failed', 'retried', 'dead', 'released', 'cancelled'] as const
const receiptText =
  '`blocked`: it is done, and waits for its children. `failed`: one of them has failed, and so has it. `cancelled`: it was asked to stop meanwhile, and has.'

export const settled = object({ receipt: words(receipts, { description: receiptText }) })
/** The outcome of one settlement. */
export type Settled = ValueOf<typeof settled>

export const settledMany = object({
  receipts: list(words([...receipts, 'lost']), {
    description: `In the order of the request. \`lost\`: the lease was no longer held, and nothing was changed. ${receiptText}`,
  }),
})
/** The outcomes of several settlements, in the same order. */
export type SettledMany = ValueOf<typeof settledMany>

export const extension = input(
  { leases: list(input(held), { minItems: 1, maxItems: 1_000 }) },
  { lease: duration({ description: 'The duration from now; 30 s by default, 1 s to 12 h.' }) },
)
/** The leases to extend. */
export type Extension = ValueOf<typeof extension>

export const extended = object({
  leases: list(words(['held', 'lost', 'stop']), {
    description:
      'In the order of the request. `lost`: another worker may have the job by now. `stop`: it is held, and was asked to stop: settle it as `cancelled`.',
  }),
})
/** The outcomes of a lease extension. */
export type Extended = ValueOf<typeof extended>

export const progressReport = input({
  token: leaseToken,
  progress: anything({ description: 'How far the work is: any JSON value of at most 64 KiB.' }),
})
