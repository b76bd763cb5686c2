import { anything, input, instant, integer, list, nullable, object, record, text, type ValueOf } from './shape.ts'

const several = 'several are separated by commas'

/** The query parameters that select events. */
export const eventQuery = input(
  {},
  {
    types: text({ description: `Names of events, or patterns such as \`job:*\`; ${several}.`, minLength: 1, maxLength: 2_000 }),
    job: text({ description: `Keys of jobs, or patterns such as \`mail-*\`; ${several}.`, minLength: 1, maxLength: 2_000 }),
    queue: text({ description: `Queues; ${several}.`, minLength: 1, maxLength: 2_000 }),
    tag: text({ description: `Jobs with one of these tags; ${several}.`, minLength: 1, maxLength: 2_000 }),
    id: text({ description: `Ids of jobs; ${several}.`, minLength: 1, maxLength: 2_000 }),
    include: text({
      description: `Details that events should contain: \`payload\`, \`meta\`, \`tags\`, \`result\`, \`timings\`; ${several}.`,
      minLength: 1,
      maxLength: 200,
    }),
  },
)

export const lastEventId = text({
  description: 'Continues after the event with this id. Browsers send it by themselves when they reconnect.',
  maxLength: 100,
})

const ms = integer({ minimum: 0 })

const timings = object(
  {},
  { createdAt: instant(), dueAt: instant(), startedAt: instant(), endedAt: instant(), waitMs: ms, durationMs: ms },
)

/** An event. Its members depend on its type. */
export const serverEvent = object(
  {
    type: text({ description: 'Such as `job:succeeded`; `dropped` if events before it were lost.' }),
    at: instant({ description: 'When it happened.' }),
    position: text({ description: 'The id of the event, which `Last-Event-ID` continues after.' }),
    process: text({ description: 'The host and the process where it happened.' }),
  },
  {
    id: text({ description: 'The id of the job.' }),
    job: text(),
    name: text(),
    queue: text(),
    attempt: integer({ minimum: 0 }),
    dueAt: instant(),
    durationMs: { type: 'number' } as ReturnType<typeof integer>,
    error: object({ message: text() }, { code: text() }),
    retryInMs: { type: 'number' } as ReturnType<typeof integer>,
    delayMs: { type: 'number' } as ReturnType<typeof integer>,
    reason: text(),
    why: nullable(text()),
    schedule: text(),
    count: nullable(integer({ description: 'Of `dropped`: the number of lost events; null if it is unknown.', minimum: 0 })),
    payload: anything(),
    meta: record(anything()),
    tags: list(text()),
    result: anything(),
    timings,
    omitted: list(text({ description: 'Details that were left out because they are too large.' })),
  },
)
/** An event from any process of the queue. */
export type ServerEvent = ValueOf<typeof serverEvent>
