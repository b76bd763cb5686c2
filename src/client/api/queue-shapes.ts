import { counts, jobName, queueName } from './job-shapes.ts'
import { flag, instant, integer, list, nullable, object, text, type ValueOf, words } from './shape.ts'

const oldestReadyAt = nullable(instant({ description: 'When the oldest ready job was due; null where none is ready.' }))

export const queueStatus = object({ queue: queueName, paused: flag() })

export const jobStatus = object({ job: jobName, paused: flag() })

export const queues = object({ queues: list(object({ queue: queueName, paused: flag(), counts, oldestReadyAt })) })
/** All queues with their counts. */
export type Queues = ValueOf<typeof queues>

export const stats = object({
  at: instant({ description: 'Of the server’s clock.' }),
  version: text({ description: 'Of the server.' }),
  backend: text({ description: 'What the queue is kept in.' }),
  counts,
  oldestReadyAt,
  jobs: list(object({ job: jobName, queue: queueName, counts, oldestReadyAt })),
  pausedQueues: list(queueName),
  pausedJobs: list(jobName, { description: 'Keys of which nothing is handed out from any queue.' }),
  workers: integer({ description: 'Those that gave a sign of life.' }),
})
/** Counts by queue and job. */
export type Stats = ValueOf<typeof stats>

export const workers = object({
  workers: list(
    object({
      owner: text({ description: 'The same as of its jobs.' }),
      host: text(),
      pid: integer(),
      version: text(),
      startedAt: instant(),
      seenAt: instant(),
      expiresAt: instant({ description: 'It counts as dead when it gives no sign of life until then.' }),
      queues: nullable(list(queueName, { description: 'Null is all of them.' })),
      jobs: list(jobName),
      concurrency: integer(),
      allowed: integer({ description: 'As many jobs as it allows itself to run at once now.' }),
      running: integer(),
      breaker: words(['closed', 'open', 'half-open']),
    }),
  ),
})
/** The live workers. */
export type Workers = ValueOf<typeof workers>
