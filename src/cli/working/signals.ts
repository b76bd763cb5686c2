import { exitCodes } from '../exit-codes.ts'

const closed = new AbortController()
let onSignal: (name: NodeJS.Signals) => void = () => process.exit(exitCodes.interrupted)

/** Until a command says otherwise, Ctrl-C ends the program with the code that scripts know. */
export function exitOnInterrupt(): void {
  process.on('SIGINT', (name) => onSignal(name))
}

/** What is said to a reader or a terminal that has gone away. */
const goneCodes: readonly (string | undefined)[] = ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']

/** A reader that goes away (`treadle list | head`) is no error. */
export function tolerateClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!goneCodes.includes(error.code)) process.exit(exitCodes.failed)
      closed.abort()
    })
  }
}

export interface StopRequest {
  readonly signal: AbortSignal
  /** The signal of the system that asked, or null while none did. */
  name(): NodeJS.Signals | null
}

/**
 * For a command that ends in an orderly way: the first Ctrl-C, SIGTERM, SIGHUP or closed output aborts the signal, and `again`
 * is called for those that follow. A SIGHUP for which `hangUp` gives true is none of them.
 */
export function stopRequest(
  first: (name: NodeJS.Signals) => void,
  again: (name: NodeJS.Signals) => void,
  hangUp: () => boolean = () => false,
): StopRequest {
  const controller = new AbortController()
  let received: NodeJS.Signals | null = null
  onSignal = (name) => {
    if (received !== null) return again(name)
    received = name
    first(name)
    controller.abort()
  }
  process.on('SIGTERM', (name) => onSignal(name))
  process.on('SIGHUP', (name) => {
    if (!hangUp()) onSignal(name)
  })
  onClosedOutput(() => controller.abort())
  return { signal: controller.signal, name: () => received }
}

/**
 * For a process that another one leads: Ctrl-C and the end of a terminal reach both, and must not count twice. A SIGTERM may be
 * meant for this one alone.
 */
export function leaveSignalsToParent(onTerminate: () => void): void {
  onSignal = () => {}
  process.on('SIGHUP', () => {})
  process.on('SIGTERM', onTerminate)
  onClosedOutput(onTerminate)
}

/** The output may have been closed before anybody asked. */
function onClosedOutput(run: () => void): void {
  if (closed.signal.aborted) run()
  else closed.signal.addEventListener('abort', run)
}
