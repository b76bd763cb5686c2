import { pause, type Timer } from '../../core/time/clock.ts'
import type { ServerEvent } from '../api/event-shapes.ts'
import type { Calls } from './calling.ts'
import { EventFrames } from './event-frames.ts'
import { ServerProblem } from './server-problem.ts'

/** Which events a client follows. An event must match every option that is given. */
export interface FollowOptions {
  /** Names of events, or patterns such as `job:*`. */
  readonly types?: string | readonly string[]
  /** Keys of jobs, or patterns such as `mail-*`. */
  readonly job?: string | readonly string[]
  readonly queue?: string | readonly string[]
  readonly tag?: string | readonly string[]
  readonly id?: string | readonly string[]
  /** Details to add to the events. */
  readonly include?: readonly ('payload' | 'meta' | 'tags' | 'result' | 'timings')[]
  /** Continues after the event with this `position`. */
  readonly after?: string
  readonly signal?: AbortSignal
}

/** How long the server may be silent; it sends a heartbeat every 15 s. */
const silenceMs = 45_000
const firstPauseMs = 500
const longestPauseMs = 10_000

/**
 * The events of a server as they happen. Reconnects after a lost connection and continues after the last event. Throws
 * if the server refuses the request or cannot be reached the first time.
 */
export async function* followEvents(calls: Calls, options: FollowOptions): AsyncGenerator<ServerEvent, void> {
  const { after, signal, ...filter } = options
  let last = after
  let failures = 0
  let hasBegun = false
  while (!signal?.aborted) {
    const connection = new AbortController()
    const end = () => connection.abort(signal?.reason)
    signal?.addEventListener('abort', end)
    try {
      const headers = last === undefined ? {} : { 'last-event-id': last }
      const body = await calls.open('streamEvents', { query: queryOf(filter), headers, signal: connection.signal })
      hasBegun = true
      for await (const event of eventsIn(body, calls, connection)) {
        failures = 0
        last = event.position
        yield event
      }
    } catch (thrown) {
      if (signal?.aborted) return
      if (!hasBegun || isRefusal(thrown)) throw thrown
    } finally {
      signal?.removeEventListener('abort', end)
      connection.abort()
    }
    await pause(calls.clock, Math.min(firstPauseMs * 2 ** failures++, longestPauseMs), signal)
  }
}

async function* eventsIn(
  body: ReadableStream<Uint8Array>,
  { clock }: Calls,
  connection: AbortController,
): AsyncGenerator<ServerEvent, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const frames = new EventFrames()
  let timer: Timer | undefined
  try {
    for (;;) {
      timer = clock.timer(silenceMs, () => connection.abort(), { unref: true })
      const { done, value } = await reader.read()
      timer.cancel()
      if (done) return
      for (const { data } of frames.read(decoder.decode(value, { stream: true }))) yield JSON.parse(data) as ServerEvent
    }
  } finally {
    timer?.cancel()
    await reader.cancel().catch(() => {})
  }
}

/**
 * Whether retrying is useless, as with a revoked token or an invalid request. A server that is restarting is not a
 * refusal.
 */
function isRefusal(thrown: unknown): boolean {
  return thrown instanceof ServerProblem && thrown.problem.status < 500 && thrown.problem.status !== 429
}

function queryOf(filter: Omit<FollowOptions, 'after' | 'signal'>): object {
  const entries = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(',')]],
  )
  return Object.fromEntries(entries) as object
}
