import { counts, jobName, queueName } from './job-shapes.ts'
import { flag, instant, integer, list, nullable, object, text, type ValueOf, words } from './shape.ts'

export const queueStatus = object({ queue: queueName, paused: flag() })

export const queues = object({ queues: list(object({ queue: queueName, paused: flag(), counts })) })
export type Queues = ValueOf<typeof queues>

export const stats = object({
  at: instant({ description: 'Of the server’s clock.' }),
  version: text({ description: 'Of the server.' }),
  backend: text({ description: 'What the queue is kept in.' }),
  counts,
  jobs: list(object({ job: jobName, queue: queueName, counts })),
  pausedQueues: list(queueName),
  workers: integer({ description: 'Those that gave a sign of life.' }),
})
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
export type Workers = ValueOf<typeof workers>
