import { signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Me, ProblemView } from '../shared/views/viewer.ts'
import { base } from './address.ts'
import { isOutdated, me, offset, read, toLogin } from './calls.ts'
import { giveRoom, takeRoom } from './stream-room.ts'

export type Connection = 'live' | 'connecting' | 'reconnecting' | 'paused' | 'polling'

export const connection = signal<Connection>('connecting')
/** When the last data arrived, by the server's clock. */
export const heardAt = signal<number | null>(null)
export const isPaused = signal(false)

interface TopicEvent {
  readonly topic: string
  readonly at: number
  readonly data?: unknown
  /** The members of `data` that differ from the event before. */
  readonly changes?: Readonly<Record<string, unknown>>
  readonly problem?: ProblemView
}

type Listener = (event: TopicEvent) => void

const listeners = new Map<string, Set<Listener>>()
let source: EventSource | null = null
let opening: number | undefined
let polling: number | undefined
let silence: number | undefined
/** How often a stream has failed in a row although the server answers. */
let failures = 0
/** How often the server has not answered in a row. */
let outages = 0
/** Counts what opens or closes a stream, so that what waited in the meantime sees that it is outdated. */
let opens = 0

const silentMs = 20_000
const pollMs = 5_000
const mostFailures = 3
/** Between two tries to reach a server that does not answer. */
const longestPauseMs = 15_000

export interface Live<Data> {
  readonly data: Data | null
  readonly problem: ProblemView | null
  readonly at: number | null
}

const nothing: Live<never> = { data: null, problem: null, at: null }

/** Follows a topic, if there is one, while the component is shown. Keeps the previous data if a problem occurs. */
export function useLive<Data>(topic: string | null): Live<Data> {
  const state = useSignal<Live<Data> & { readonly topic: string | null }>({ ...nothing, topic })
  useEffect(() => {
    if (state.peek().topic !== topic) state.value = { ...nothing, topic }
    if (topic === null) return undefined
    return listen(topic, ({ at, data, changes, problem }) => {
      const before = state.peek().data
      const known = changes === undefined || before === null ? before : { ...before, ...changes }
      state.value = { topic, at, data: data === undefined ? known : (data as Data), problem: problem ?? null }
    })
  }, [topic])
  return state.value.topic === topic ? state.value : nothing
}

function listen(topic: string, listener: Listener): () => void {
  const known = listeners.get(topic) ?? new Set()
  listeners.set(topic, known.add(listener))
  reopenSoon()
  return () => {
    known.delete(listener)
    if (known.size === 0) listeners.delete(topic)
    reopenSoon()
  }
}

/** When a page changes, its topics change together: open one new stream for all of them. */
function reopenSoon(): void {
  clearTimeout(opening)
  opening = setTimeout(open, 0)
}

async function open(): Promise<void> {
  close()
  const isIdle = listeners.size === 0 || document.hidden || isPaused.value
  if (isPaused.value) connection.value = 'paused'
  if (isIdle || failures >= mostFailures) giveRoom()
  if (isIdle) return
  const opened = opens
  const canStream = failures < mostFailures && typeof EventSource !== 'undefined' && (await takeRoom())
  if (opened !== opens) return
  if (!canStream) {
    poll()
    return
  }
  const query = new URLSearchParams([...listeners.keys()].map((topic) => ['topic', topic]))
  source = new EventSource(`${base}/-/events?${query}`)
  source.onmessage = ({ data }) => hear(JSON.parse(data) as TopicEvent)
  source.addEventListener('beat', ({ data }) => beat(Number(data)))
  source.onerror = onFailure
  watchSilence()
}

function close(): void {
  opens++
  source?.close()
  source = null
  clearTimeout(polling)
  clearTimeout(silence)
}

function hear(event: TopicEvent): void {
  beat(event.at)
  for (const listener of listeners.get(event.topic) ?? []) listener(event)
}

function beat(at: number): void {
  failures = 0
  outages = 0
  offset.value = at - Date.now()
  heardAt.value = at
  connection.value = 'live'
  watchSilence()
}

function watchSilence(): void {
  clearTimeout(silence)
  silence = setTimeout(onFailure, silentMs)
}

/** A refused stream gives no reason, but a plain request does. */
function onFailure(): void {
  close()
  connection.value = 'reconnecting'
  read<Me>('me').then(
    ({ version }) => {
      failures++
      outages = 0
      if (me.value !== null && version !== me.value.version) isOutdated.value = true
      opening = setTimeout(open, 1_000)
    },
    (refused: { readonly status?: number }) => {
      if (refused.status === 401) toLogin()
      else opening = setTimeout(open, Math.min(longestPauseMs, 1_000 * 2 ** outages++))
    },
  )
}

/** For networks that block streams, and for windows that have no room for one. */
function poll(): void {
  const failed = failures
  const opened = opens
  for (const topic of listeners.keys()) {
    read<TopicEvent>('view', { topic }).then(
      (event) => {
        if (opened !== opens) return
        hear(event)
        failures = failed
        connection.value = 'polling'
        clearTimeout(silence)
      },
      () => {
        if (opened === opens) connection.value = 'reconnecting'
      },
    )
  }
  polling = setTimeout(open, pollMs)
}

export function pauseOrResume(): void {
  isPaused.value = !isPaused.value
  reopenSoon()
}

// Back in the network, nobody wants to wait for the next try.
addEventListener('online', reopenSoon)
// A hidden page causes no load.
document.addEventListener('visibilitychange', reopenSoon)
addEventListener('pagehide', () => {
  close()
  giveRoom()
})
