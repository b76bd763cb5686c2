import { type ChildProcess, fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { systemClock } from '../../core/time/clock.ts'
import type { ChildHandle, ChildListener, Exit } from '../../worker/supervisor/messages.ts'
import { parseChildMessage } from '../../worker/supervisor/parsing.ts'
import { type Supervision, supervisionText } from './supervised.ts'

export interface ChildOutput {
  line(text: string): void
  note(text: string): void
}

/**
 * Starts this same command again as a worker process. Uses the path as it was called, so that a symlink switched to
 * another version is followed.
 */
export function startChild(supervision: Supervision, listener: ChildListener, output: ChildOutput): ChildHandle {
  const args = [...process.argv.slice(2), '--supervised', supervisionText(supervision)]
  const child = fork(process.argv[1] as string, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  readLines(child.stdout, (line) => output.line(line))
  readLines(child.stderr, (line) => output.note(line))
  child.on('message', (value: unknown) => {
    const message = parseChildMessage(value)
    if (message !== undefined) listener.onMessage(message)
  })
  onEnd(child, (exit) => listener.onExit(exit))
  return {
    pid: child.pid ?? 0,
    tell(order) {
      // A process that is about to end misses the message.
      if (child.connected) child.send(order, () => {})
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

function readLines(stream: Readable | null, onLine: (line: string) => void): void {
  if (stream !== null) createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', onLine)
}

/**
 * How long to wait for remaining output after the process has ended; a process that it started may keep its outputs
 * open forever.
 */
const lastWordsMs = 1_000

function onEnd(child: ChildProcess, ended: (exit: Exit) => void): void {
  let isOver = false
  const end = (exit: Exit) => {
    if (isOver) return
    isOver = true
    ended(exit)
  }
  child.on('close', (code, signal) => end({ code, signal }))
  child.on('exit', (code, signal) => systemClock.timer(lastWordsMs, () => end({ code, signal })))
  // It could not be started at all.
  child.on('error', () => {
    if (child.pid === undefined) end({ code: null, signal: null })
  })
}
