import { parentPort } from 'node:worker_threads'
import type { FromIsolate, ToIsolate } from './messages.ts'
import { watchParent } from './parent-watch.ts'
import { packThrown } from './thrown.ts'

/** The other end of a channel: what an isolate speaks to its worker through. */
export interface InsideChannel {
  /** Throws for what can not be copied. */
  post(message: FromIsolate): void
  listen(onMessage: (message: ToIsolate) => void): void
  /** Sees to it that the isolate does not outlive the process that started it. */
  watch(parent: number): void
  exit(): void
}

export function insideChannel(): InsideChannel {
  return parentPort === null ? processChannel() : threadChannel(parentPort)
}

function threadChannel(port: NonNullable<typeof parentPort>): InsideChannel {
  return {
    post: (message) => port.postMessage(message),
    listen: (onMessage) => void port.on('message', onMessage),
    watch: () => {},
    exit: () => process.exit(),
  }
}

function processChannel(): InsideChannel {
  const post = (message: FromIsolate) => void process.send?.(message)
  // A manager of services may signal every process that it started: when this one ends is for its worker to say.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {})
  process.on('disconnect', () => process.exit())
  process.on('uncaughtExceptionMonitor', (thrown) => post({ kind: 'uncaught', thrown: packThrown(thrown) }))
  return {
    post,
    listen: (onMessage) => void process.on('message', onMessage),
    watch: (parent) => watchParent({ parent, graceMs: 0 }),
    exit: () => process.exit(),
  }
}
