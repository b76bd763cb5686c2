import type { EventStream } from '../../../app/observing/events/event-stream.ts'
import type { QueueEvent } from '../../../app/observing/events/queue-event.ts'
import { type Clock, systemClock } from '../../../core/time/clock.ts'
import { formatInstant } from '../../../core/time/instant.ts'
import { isInstant } from '../../../envelope/envelope.ts'
import type { EventDetail } from '../../../execution/event-details.ts'
import type { Grant } from '../../access/grant.ts'
import type { HttpDeps } from '../deps.ts'
import type { Handlers } from '../route.ts'
import { SeenJobs } from '../seen-jobs.ts'
import { HttpProblem } from '../wire/http-problem.ts'

/** How often to send something when there are no events, so that the connection is known to be alive. */
const heartbeatMs = 15_000
/** How long a reader whose connection broke may take to reconnect without missing events. */
const lingerMs = 10_000
const comeBackMs = 1_000

export function eventHandlers({ service, limits }: HttpDeps): Pick<Handlers, 'streamEvents'> {
  let open = 0
  return {
    streamEvents: async ({ query, exchange }) => {
      const { grant, headers, signal } = exchange
      if (open >= limits.maxEventStreams) {
        const detail = `At most ${limits.maxEventStreams} readers may follow the events at the same time`
        throw new HttpProblem('too-many-waiting', detail, { headers: { 'retry-after': '5' } })
      }
      const after = headers['last-event-id']
      const events = service.queue.streamEvents({
        ...filterOf(query),
        ...(after !== undefined && after !== '' && { after }),
        signal: signal(),
        sees: (event) => isSeenBy(grant, event),
        // Encrypted data is not shown to anyone, as in lists.
        decrypt: false,
        lingerMs,
      })
      open++
      try {
        await events.listening
      } catch (thrown) {
        open--
        throw thrown
      }
      // What is known of other jobs is forgotten after each event: a stream may stay open for days.
      const seen = (event: QueueEvent) => new SeenJobs(grant, service.queue.backend.store).ofEvent(event)
      return { status: 200, body: undefined, stream: frames(events, seen, () => open--, systemClock) }
    },
  }
}

type Query = Readonly<Partial<Record<'types' | 'job' | 'queue' | 'tag' | 'id' | 'include', string>>>

function filterOf({ include, ...names }: Query) {
  const given = Object.entries(names).map(([name, text]) => [name, listOf(text)])
  return {
    ...(Object.fromEntries(given) as Readonly<Record<keyof typeof names, readonly string[]>>),
    ...(include !== undefined && { include: listOf(include) as readonly EventDetail[] }),
  }
}

function listOf(text: string): readonly string[] {
  return text.split(',').map((part) => part.trim())
}

/**
 * A limited token only sees events of jobs within its limits, and none of workers and schedules, which concern other jobs as
 * well.
 */
function isSeenBy(grant: Grant, event: QueueEvent): boolean {
  if (!grant.isLimited) return true
  return 'job' in event && 'queue' in event && grant.sees(event)
}

async function* frames(
  events: EventStream,
  seen: (event: QueueEvent) => Promise<QueueEvent>,
  onEnd: () => void,
  clock: Clock,
): AsyncGenerator<string, void> {
  try {
    yield `retry: ${comeBackMs}\n\n`
    let next = events.next()
    for (;;) {
      const came = await orBeat(next, clock)
      if (came === null) yield ': beat\n\n'
      else if (came.done || came.value === undefined) return
      else {
        next = events.next()
        yield frameOf(await seen(came.value))
      }
    }
  } finally {
    onEnd()
    await events.close()
  }
}

/** Null if no event arrived for that long. */
function orBeat<Came>(next: Promise<Came>, clock: Clock): Promise<Came | null> {
  return new Promise((resolve, reject) => {
    const timer = clock.timer(heartbeatMs, () => resolve(null), { unref: true })
    next.then(resolve, reject).finally(() => timer.cancel())
  })
}

function frameOf(event: QueueEvent): string {
  return `id: ${event.position}\nevent: ${event.type}\ndata: ${JSON.stringify(written(event))}\n\n`
}

/** Formats instants as everywhere else in the API. */
function written(event: QueueEvent): object {
  const timings = 'timings' in event && event.timings !== undefined ? { timings: writtenInstants(event.timings) } : {}
  return { ...writtenInstants(event), ...timings }
}

function writtenInstants(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, isNamedInstant(name, member) ? formatInstant(member) : member]),
  )
}

function isNamedInstant(name: string, member: unknown): member is number {
  return isInstant(member) && (name === 'at' || name.endsWith('At'))
}
