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
  storable,
  text,
  type ValueOf,
  words,
} from './shape.ts'

const leaseToken = storable({
  description: 'The token of the lease: a secret of its holder.',
  minLength: 1,
  maxLength: 200,
})

export const leaseRequest = input(
  {
    jobs: list(jobName, {
      description:
        'The names of the jobs that the worker can run. `*` matches any text, `?` one character, `[a-z]` one character of a set.',
      minItems: 1,
      maxItems: 200,
    }),
  },
  {
    queues: list(queueName, { description: 'Only jobs of these queues; all queues by default.', minItems: 1, maxItems: 200 }),
    limit: integer({ description: 'The maximum number of jobs.', minimum: 1, maximum: 1_000, default: 1 }),
    lease: duration({
      description: 'How long the jobs stay claimed unless the leases are extended; 30 s by default, 1 s to 12 h.',
    }),
    wait: duration({ description: 'How long to wait if there is no work; 0 by default, at most 60 s.' }),
    owner: storable({ description: 'The name of the worker, which is shown to people.', minLength: 1, maxLength: 200 }),
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
  timeoutMs: nullable(integer({ description: 'The time limit of this attempt.' })),
  createdAt: instant(),
  expiresAt: instant({ description: 'When the lease ends, unless it is extended.' }),
})
/** A claimed job, with the token that settles it. */
export type Lease = ValueOf<typeof lease>

export const leases = object({ leases: list(lease) })

const failure = input(
  { message: text({ description: 'What went wrong; truncated to 2,000 characters.' }) },
  { code: text({ maxLength: 100 }), stack: text() },
)

const delay = duration({ description: 'The delay before the job may run again.' })

const held = { id: jobId, token: leaseToken }

const done = { outcome: literal('done') }
const fail = { outcome: literal('fail'), error: failure }
const dead = { outcome: literal('dead'), error: failure }
const release = { outcome: literal('release') }
const cancelled = { outcome: literal('cancelled') }

const result = anything({ description: 'The result of the job.' })

const meanings = {
  done: { description: 'The job succeeded.' },
  fail: {
    description:
      'The attempt failed. While the job has retries left, it is retried after this delay or the default one; otherwise it is dead.',
  },
  dead: { description: 'Retrying cannot help: the job is dead at once.' },
  release: {
    description: 'The job returns to the queue as if it had never been claimed; without a delay, to its previous place.',
  },
  cancelled: { description: 'The job was asked to stop, and has stopped.' },
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
  '`blocked`: the job is done, and waits for its children. `failed`: one of its children has failed, so it has failed too. `cancelled`: it had been asked to stop, and has ended as cancelled.'

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
  { lease: duration({ description: 'The new duration, from now; 30 s by default, 1 s to 12 h.' }) },
)
/** The leases to extend. */
export type Extension = ValueOf<typeof extension>

export const extended = object({
  leases: list(words(['held', 'lost', 'stop']), {
    description:
      'In the order of the request. `lost`: another worker may have the job by now. `stop`: the lease is held, but the job was asked to stop: settle it as `cancelled`.',
  }),
})
/** The outcomes of a lease extension. */
export type Extended = ValueOf<typeof extended>

export const progressReport = input({
  token: leaseToken,
  progress: anything({ description: 'The progress: any JSON value of at most 64 KiB.' }),
})
