import { exitCodes } from '../exit-codes.ts'

const closed = new AbortController()
let onSignal: (name: NodeJS.Signals) => void = () => process.exit(exitCodes.interrupted)

/** Unless a command handles it, Ctrl-C ends the program with the exit code that scripts expect. */
export function exitOnInterrupt(): void {
  process.on('SIGINT', (name) => onSignal(name))
}

/** Error codes of writing to a reader or terminal that is gone. */
const goneCodes: readonly (string | undefined)[] = ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']

/** A reader that closes the pipe (`treadle list | head`) is not an error. Any other error of an output ends the program. */
export function tolerateClosedPipes(onFailure: (error: Error) => void): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (goneCodes.includes(error.code)) return closed.abort()
      if (stream === process.stdout) onFailure(error)
      process.exit(exitCodes.failed)
    })
  }
}

export interface StopRequest {
  readonly signal: AbortSignal
  /** The system signal that requested the stop; null if there was none. */
  name(): NodeJS.Signals | null
}

/**
 * For a command that shuts down gracefully: the first Ctrl-C, SIGTERM, SIGHUP or closed output aborts the signal, and
 * `again` is called for later ones; by default, the next one ends the program. A SIGHUP for which `hangUp` returns true does not
 * count.
 */
export function stopRequest(
  first: (name: NodeJS.Signals) => void = () => {},
  again: (name: NodeJS.Signals) => void = () => process.exit(exitCodes.interrupted),
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
 * For a supervised process: Ctrl-C and the closing of a terminal reach both processes, and must not count twice. A
 * SIGTERM may be meant for this one alone.
 */
export function leaveSignalsToParent(onTerminate: () => void): void {
  onSignal = () => {}
  process.on('SIGHUP', () => {})
  process.on('SIGTERM', onTerminate)
  onClosedOutput(onTerminate)
}

/** The output may have been closed before this is called. */
function onClosedOutput(run: () => void): void {
  if (closed.signal.aborted) run()
  else closed.signal.addEventListener('abort', run)
}
