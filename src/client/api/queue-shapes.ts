import { counts, jobName, queueName } from './job-shapes.ts'
import { flag, instant, integer, list, nullable, object, text, type ValueOf, words } from './shape.ts'

const oldestReadyAt = nullable(instant({ description: 'When the oldest ready job was due; null if none is ready.' }))

export const queueStatus = object({ queue: queueName, paused: flag() })

export const jobStatus = object({ job: jobName, paused: flag() })

export const queues = object({ queues: list(object({ queue: queueName, paused: flag(), counts, oldestReadyAt })) })
/** All queues with their counts. */
export type Queues = ValueOf<typeof queues>

export const stats = object({
  at: instant({ description: 'The time of the server.' }),
  version: text({ description: 'The version of the server.' }),
  backend: text({ description: 'The engine that keeps the queue.' }),
  counts,
  oldestReadyAt,
  jobs: list(object({ job: jobName, queue: queueName, counts, oldestReadyAt })),
  pausedQueues: list(queueName),
  pausedJobs: list(jobName, { description: 'Keys of jobs that are paused in all queues.' }),
  workers: integer({ description: 'The number of live workers.' }),
})
/** Counts by queue and job. */
export type Stats = ValueOf<typeof stats>

export const workers = object({
  workers: list(
    object({
      owner: text({ description: 'The same as the `owner` of its jobs.' }),
      host: text(),
      pid: integer(),
      version: text(),
      startedAt: instant(),
      seenAt: instant(),
      expiresAt: instant({ description: 'Without a heartbeat by then, the worker counts as dead.' }),
      queues: nullable(list(queueName, { description: 'Null means all queues.' })),
      jobs: list(jobName),
      concurrency: integer(),
      allowed: integer({ description: 'How many jobs it currently allows itself to run at the same time.' }),
      running: integer(),
      breaker: words(['closed', 'open', 'half-open']),
    }),
  ),
})
/** The live workers. */
export type Workers = ValueOf<typeof workers>
