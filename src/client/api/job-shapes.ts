import {
  anything,
  duration,
  flag,
  input,
  instant,
  integer,
  list,
  nullable,
  object,
  record,
  storable,
  text,
  type ValueOf,
  words,
} from './shape.ts'

export const jobId = storable({ description: 'The id of a job.', minLength: 1, maxLength: 64 })
export const jobName = storable({ description: 'The key of the definition that handles the job.', minLength: 1, maxLength: 191 })
export const queueName = text({
  description: 'A queue: letters, digits, or any of `. _ : / -`.',
  maxLength: 64,
  pattern: '^[\\p{L}\\p{N}._:/-]+$',
})
export const groupName = storable({ description: 'The group of the job, such as a customer.', minLength: 1, maxLength: 512 })

const states = ['ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped'] as const
export const jobState = words(states, { description: 'The state of the job.' })
/** The states of a job. */
export type JobState = ValueOf<typeof jobState>

export const counts = object(
  Object.fromEntries(states.map((state) => [state, integer({ minimum: 0 })])) as Record<JobState, ReturnType<typeof integer>>,
)

const priority = integer({ description: 'Higher is sooner; 5 by default.', minimum: -32_768, maximum: 32_767 })
const payload = anything({ description: 'The payload for the handler: any JSON value.' })
const tag = storable({ description: 'A tag, by which jobs can be found.', minLength: 1, maxLength: 100 })
const tags = list(tag, { description: 'Tags, by which the job can be found.' })
const meta = record(anything(), { description: 'Metadata that is stored with the job, at most 16 KiB.' })

const unique = input(
  {
    key: storable({
      description: 'While a job with the same name holds this key, no other one is stored.',
      minLength: 1,
      maxLength: 512,
    }),
  },
  {
    until: {
      anyOf: [words(['started', 'ended', 'ever']), duration()],
      description:
        'How long the key is held: until a worker has claimed the job, until the job has ended (the default), forever, or for a duration.',
    } as ReturnType<typeof duration>,
  },
)

const mostRetries = 1_000

/** A job to be created. */
export const newJob = input(
  { job: jobName },
  {
    payload,
    queue: queueName,
    priority,
    delay: duration({ description: 'The delay before the job may run.' }),
    at: instant({ description: 'The earliest time at which the job may run; give either this or `delay`.' }),
    unique,
    maxRetries: integer({
      description: 'The maximum number of retries; if omitted, the definition of the worker decides.',
      minimum: 0,
      maximum: mostRetries,
    }),
    timeout: nullable(duration({ description: 'The time limit of one attempt. Remote workers receive it and must enforce it.' })),
    group: groupName,
    repeat: text({
      description: 'When the job runs again after it has finished, such as `FINISHED, +1 HOUR`.',
      minLength: 1,
      maxLength: 500,
    }),
    tags,
    meta,
  },
)
/** A job to be created over HTTP. */
export type NewJob = ValueOf<typeof newJob>

export const newJobs = input({ jobs: list(newJob, { minItems: 1, description: 'Either all of them are stored or none.' }) })

export const created = object({
  id: jobId,
  created: flag({
    description: 'False if the job already existed: its unique key or the `Idempotency-Key` was in use.',
  }),
})
/** A job that was created, or the existing one that holds the unique key. */
export type Created = ValueOf<typeof created>

export const createdMany = object({ jobs: list(created, { description: 'In the order of the request.' }) })

export const attemptError = object({ attempt: integer(), at: instant(), message: text() }, { code: text(), stack: text() })

const common = {
  id: jobId,
  job: jobName,
  name: text({ description: 'The name shown to people: the key of the job, unless its definition sets another name.' }),
  queue: queueName,
  state: jobState,
  priority,
  attempts: integer({ description: 'The number of attempts started so far, except those that were returned to the queue.' }),
  maxRetries: nullable(integer({ description: 'Null if the definition of the worker decides.' })),
  group: nullable(text()),
  tags,
  uniqueKey: nullable(text()),
  schedule: nullable(text({ description: 'The schedule that this job is a run of.' })),
  parent: nullable(text({ description: 'The parent: the job that created this one and waits for it.' })),
  root: nullable(text({ description: 'The id of the workflow, which all of its jobs have in common.' })),
  reason: nullable(text({ description: 'Why the job is dead or was skipped.' })),
  createdAt: instant(),
  runAt: instant(),
  startedAt: nullable(instant()),
  finishedAt: nullable(instant()),
  owner: nullable(text({ description: 'The worker that has claimed the job.' })),
  leaseExpiresAt: nullable(instant()),
  cancelRequested: flag(),
}

const spoilt = {
  spoilt: flag({ description: 'True if another program has changed the row of the job, and part of it cannot be read.' }),
  faults: list(text(), { description: 'What is wrong with such a row.' }),
}

/** A job in a list, without its potentially large parts. */
export const jobSummary = object(
  { ...common, lastError: nullable(text({ description: 'The message of the last failed attempt.' })) },
  spoilt,
)
/** A job in a list. */
export type JobSummary = ValueOf<typeof jobSummary>

export const job = object(
  {
    ...common,
    payload,
    result: anything({ description: 'The result of the handler; null if there is none.' }),
    progress: anything(),
    meta,
    timeoutMs: nullable(integer({ description: 'The time limit of one attempt.' })),
    repeat: nullable(text({ description: 'When the job runs again after it has finished.' })),
    number: nullable(integer({ description: 'The number of the job, by which the TCP protocol identifies it.' })),
    rescues: integer({ description: 'How often its lease expired because a worker died.' }),
    idempotencyKey: nullable(text()),
    errors: list(attemptError, { description: 'The errors of its failed attempts, oldest first.' }),
  },
  spoilt,
)
/** A job in full, as the HTTP API returns it. */
export type Job = ValueOf<typeof job>

export const jobPage = object(
  {
    jobs: list(jobSummary, { description: 'Newest first.' }),
    next: nullable(text({ description: 'The address of the next page; null on the last page.' })),
  },
  {
    searched: integer({
      description: 'Only with `where`: how many jobs were examined for this page, of those that the other parameters select.',
      minimum: 0,
    }),
  },
)
/** A page of jobs, and where the next page begins. */
export type JobPage = ValueOf<typeof jobPage>

export const pageLimit = integer({ description: 'The maximum number of entries.', minimum: 1, maximum: 500, default: 50 })
export const pageBefore = storable({
  description: 'Only jobs older than the one with this id; `next` of the previous page contains it.',
  minLength: 1,
  maxLength: 512,
})

const where = storable({
  description:
    'A filter in the syntax of the dashboard, such as `error:"refused" payload.order:777 since:24h`. For each page at most 5,000 jobs are examined; `searched` is their number, and `next` continues.',
  minLength: 1,
  maxLength: 2_000,
})

export const jobFilter = input(
  {},
  { state: jobState, queue: queueName, job: jobName, group: groupName, tag, where, limit: pageLimit, before: pageBefore },
)
/** Which jobs to list, count or change. */
export type JobFilter = ValueOf<typeof jobFilter>

/** What may be changed on a waiting job. */
export const jobChange = input(
  {},
  { runAt: instant({ description: 'The earliest time at which the job may run.' }), priority, payload },
  { description: 'At least one member is required.' },
)
/** What can be changed on a waiting job. */
export type JobChange = ValueOf<typeof jobChange>

/** What a copy of a job may change. */
export const jobCopy = input({}, { payload })
export type JobCopy = ValueOf<typeof jobCopy>

export const logQuery = input(
  {},
  { after: integer({ description: 'Only lines after the one with this number.', minimum: 0, default: 0 }) },
)

export const jobLog = object({
  lines: list(
    object(
      {
        line: integer({ description: 'Counted from 1 over all attempts. Missing numbers are lines that were dropped.' }),
        attempt: integer(),
        at: instant(),
        level: words(['debug', 'info', 'warn', 'error', 'stdout', 'stderr']),
        message: text(),
      },
      { fields: record(anything()) },
    ),
    { description: 'Oldest first.' },
  ),
  dropped: integer({ description: 'How many lines in this range were dropped.' }),
  last: integer({ description: 'The number of the last line: pass it as `after` in the next request.' }),
})
/** The log lines of a job, as the HTTP API returns them. */
export type JobLog = ValueOf<typeof jobLog>

export const cancellation = object({
  id: jobId,
  outcome: words(['cancelled', 'requested'], {
    description:
      '`cancelled`: the job was waiting, and has ended. `requested`: it is running, and its worker was asked to stop it.',
  }),
})

export const why = object({
  id: jobId,
  job: jobName,
  state: jobState,
  reasons: list(
    object({
      rule: text({ description: 'The rule, for programs: `paused`, `no-worker`, `future`, …' }),
      message: text({ description: 'The same as a sentence.' }),
      until: nullable(instant({ description: 'When this reason ends by itself, if that is known.' })),
    }),
  ),
})
/** Why a job is not running. */
export type Why = ValueOf<typeof why>
