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
  text,
  type ValueOf,
  words,
} from './shape.ts'

export const jobId = text({ description: 'The id of a job.', minLength: 1, maxLength: 64 })
export const jobName = text({ description: 'The key of the definition that handles the job.', minLength: 1, maxLength: 191 })
export const queueName = text({
  description: 'A queue: letters, digits, or any of `. _ : / -`.',
  maxLength: 64,
  pattern: '^[\\p{L}\\p{N}._:/-]+$',
})
export const groupName = text({ description: 'Whose job it is (a customer’s, say).', minLength: 1, maxLength: 512 })

const states = ['ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped'] as const
export const jobState = words(states, { description: 'Where the job stands.' })
/** The states of a job. */
export type JobState = ValueOf<typeof jobState>

export const counts = object(
  Object.fromEntries(states.map((state) => [state, integer({ minimum: 0 })])) as Record<JobState, ReturnType<typeof integer>>,
)

const priority = integer({ description: 'Higher is sooner; 5 by default.', minimum: -32_768, maximum: 32_767 })
const payload = anything({ description: 'What the handler is given: any JSON value.' })
export const tag = text({ description: 'A word that people find jobs by.', minLength: 1, maxLength: 100 })
const tags = list(tag, { description: 'Words that people find it by.' })
const meta = record(anything(), { description: 'What travels beside the payload, at most 16 KiB.' })

const unique = input(
  { key: text({ description: 'While a job of the same name holds it, no second one is stored.', minLength: 1, maxLength: 512 }) },
  {
    until: {
      anyOf: [words(['started', 'ended', 'ever']), duration()],
      description:
        'How long the key is held: until a worker has the job, until it has ended (the default), for ever, or for a duration.',
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
    delay: duration({ description: 'How long to wait before it may run.' }),
    at: instant({ description: 'Not to be run before this instant; in place of `delay`.' }),
    unique,
    maxRetries: integer({
      description: 'How often it is tried again; by default, the definition of its worker decides.',
      minimum: 0,
      maximum: mostRetries,
    }),
    timeout: nullable(
      duration({ description: 'How long one attempt may take. Remote workers receive it, and must keep to it.' }),
    ),
    group: groupName,
    repeat: text({
      description: 'When it is to be done again after it has been done, such as `FINISHED, +1 HOUR`.',
      minLength: 1,
      maxLength: 500,
    }),
    tags,
    meta,
  },
)
/** A job to be created over HTTP. */
export type NewJob = ValueOf<typeof newJob>

export const newJobs = input({ jobs: list(newJob, { minItems: 1, description: 'All of them are stored, or none.' }) })
export type NewJobs = ValueOf<typeof newJobs>

export const created = object({
  id: jobId,
  created: flag({
    description: 'False where the job was there already: its unique key, or the `Idempotency-Key`, had been used.',
  }),
})
/** A job that was created, or the existing one that holds the unique key. */
export type Created = ValueOf<typeof created>

export const createdMany = object({ jobs: list(created, { description: 'In the order of the request.' }) })

export const attemptError = object({ attempt: integer(), at: instant(), message: text() }, { code: text(), stack: text() })

const common = {
  id: jobId,
  job: jobName,
  name: text({ description: 'What people read; the key of the job unless its definition names it.' }),
  queue: queueName,
  state: jobState,
  priority,
  attempts: integer({ description: 'Attempts that were started and not given back.' }),
  maxRetries: nullable(integer({ description: 'Null where the definition of its worker decides.' })),
  group: nullable(text()),
  tags,
  uniqueKey: nullable(text()),
  schedule: nullable(text({ description: 'The schedule that it is a run of.' })),
  parent: nullable(text({ description: 'The job that made it and waits for it.' })),
  root: nullable(text({ description: 'What all jobs of its workflow have in common.' })),
  reason: nullable(text({ description: 'Why it is dead, or why it was skipped.' })),
  createdAt: instant(),
  runAt: instant(),
  startedAt: nullable(instant()),
  finishedAt: nullable(instant()),
  owner: nullable(text({ description: 'The worker that has it.' })),
  leaseExpiresAt: nullable(instant()),
  cancelRequested: flag(),
}

const spoilt = {
  spoilt: flag({ description: 'True where somebody else has written to its row, and something of it could not be read.' }),
  faults: list(text(), { description: 'What is wrong with it then.' }),
}

/** A job in a list, without its potentially large parts. */
export const jobSummary = object(
  { ...common, lastError: nullable(text({ description: 'The message of its last failure.' })) },
  spoilt,
)
/** A job in a list. */
export type JobSummary = ValueOf<typeof jobSummary>

export const job = object(
  {
    ...common,
    payload,
    result: anything({ description: 'What its handler gave; null where there is nothing.' }),
    progress: anything(),
    meta,
    timeoutMs: nullable(integer({ description: 'How long one attempt may take.' })),
    repeat: nullable(text({ description: 'When it is to be done again after it has been done.' })),
    number: nullable(integer({ description: 'What it is called where jobs are known by numbers.' })),
    rescues: integer({ description: 'How often its lease ran out because a worker died.' }),
    idempotencyKey: nullable(text()),
    errors: list(attemptError, { description: 'The failures of its attempts, the oldest first.' }),
  },
  spoilt,
)
/** A job in full, as the HTTP API returns it. */
export type Job = ValueOf<typeof job>

export const jobPage = object(
  {
    jobs: list(jobSummary, { description: 'The newest first.' }),
    next: nullable(text({ description: 'The address of the next page; null where this is the last.' })),
  },
  {
    searched: integer({
      description: 'With `where`: how many jobs this page has looked at, the newest of those that the other parameters select.',
      minimum: 0,
    }),
  },
)
/** A page of jobs, and where the next page begins. */
export type JobPage = ValueOf<typeof jobPage>

export const pageLimit = integer({ description: 'The maximum number.', minimum: 1, maximum: 500, default: 50 })
export const pageBefore = text({
  description: 'Only jobs older than the one with this id, or what `next` of the page before says.',
  minLength: 1,
  maxLength: 512,
})

export const where = text({
  description:
    'A filter in the words of the dashboard, such as `error:"refused" payload.order:777 since:24h`. A page looks at no more than 5,000 jobs, says how many it has looked at, and has the address of the next.',
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
  { runAt: instant({ description: 'Not to be run before this instant.' }), priority, payload },
  { description: 'At least one of them.' },
)
/** What can be changed on a waiting job. */
export type JobChange = ValueOf<typeof jobChange>

/** What a copy of a job may change. */
export const jobCopy = input({}, { payload })
export type JobCopy = ValueOf<typeof jobCopy>

export const logQuery = input(
  {},
  { after: integer({ description: 'Only lines after this one, by its number.', minimum: 0, default: 0 }) },
)
export type LogQuery = ValueOf<typeof logQuery>

export const jobLog = object({
  lines: list(
    object(
      {
        line: integer({ description: 'Counted from 1 over all attempts; where numbers are missing, lines were dropped.' }),
        attempt: integer(),
        at: instant(),
        level: words(['debug', 'info', 'warn', 'error', 'stdout', 'stderr']),
        message: text(),
      },
      { fields: record(anything()) },
    ),
    { description: 'The oldest first.' },
  ),
  dropped: integer({ description: 'How many lines in between are not kept any more.' }),
  last: integer({ description: 'The number of the last line, for `after` of the next request.' }),
})
/** The log lines of a job, as the HTTP API returns them. */
export type JobLog = ValueOf<typeof jobLog>

export const cancellation = object({
  id: jobId,
  outcome: words(['cancelled', 'requested'], {
    description: '`cancelled`: it waited, and has ended. `requested`: it runs, and its worker was asked to stop.',
  }),
})

export const why = object({
  id: jobId,
  job: jobName,
  state: jobState,
  reasons: list(
    object({
      rule: text({ description: 'A word for programs: `paused`, `no-worker`, `future`, …' }),
      message: text({ description: 'The same for people.' }),
      until: nullable(instant({ description: 'When it ends by itself, where that is known.' })),
    }),
  ),
})
/** Why a job is not running. */
export type Why = ValueOf<typeof why>
