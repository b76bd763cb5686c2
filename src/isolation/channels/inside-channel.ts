import { Socket } from 'node:net'
import { parentPort } from 'node:worker_threads'
import { watchParent } from '../parent-watch.ts'
import { openToIsolate, type Sealed } from '../sealed.ts'
import { packThrown } from '../thrown.ts'
import { isolatePipe, readFrames, writeFrame } from '../wire/frames.ts'
import type { FromIsolate, ToIsolate } from '../wire/messages.ts'

/** The isolate's end of a channel to its worker. */
export interface InsideChannel {
  /** Throws if the message cannot be cloned. */
  post(message: FromIsolate): void
  listen(onMessage: (message: ToIsolate) => void): void
  /** Ensures that the isolate does not outlive the process that started it. */
  watch(parent: number): void
  exit(): void
}

export function insideChannel(): InsideChannel {
  return parentPort === null ? processChannel() : threadChannel(parentPort)
}

function threadChannel(port: NonNullable<typeof parentPort>): InsideChannel {
  const seal = new Seal((message) => port.postMessage(message))
  return {
    post: (message) => seal.post(message),
    listen: (onMessage) => void port.on('message', (value: unknown) => seal.open(value, onMessage)),
    watch: () => {},
    exit: () => process.exit(),
  }
}

function processChannel(): InsideChannel {
  const pipe = new Socket({ fd: isolatePipe, readable: true, writable: true })
  const seal = new Seal((message) => writeFrame(pipe, message))
  const exit = () => process.exit()
  // A service manager may signal all processes that it started, but the worker decides when this one ends.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {})
  process.on('uncaughtExceptionMonitor', (thrown) => seal.post({ kind: 'uncaught', thrown: packThrown(thrown) }))
  return {
    post: (message) => seal.post(message),
    listen: (onMessage) => readFrames(pipe, { onValue: (value) => seal.open(value, onMessage), onBroken: exit, onEnd: exit }),
    watch: (parent) => watchParent({ parent, graceMs: 0 }),
    exit,
  }
}

/** Holds the token that distinguishes Treadle's messages from those that a handler sends. */
class Seal {
  readonly #send: (message: Sealed<FromIsolate>) => void
  #token: string | null = null

  constructor(send: (message: Sealed<FromIsolate>) => void) {
    this.#send = send
  }

  open(value: unknown, onMessage: (message: ToIsolate) => void): void {
    const sealed = openToIsolate(value, this.#token)
    if (sealed === undefined) return
    this.#token ??= sealed.token
    onMessage(sealed.message)
  }

  post(message: FromIsolate): void {
    this.#send({ token: this.#token ?? '', message })
  }
}
