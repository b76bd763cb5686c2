import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { messageOf, TreadleError } from '../core/errors.ts'
import { signalProcessGroup } from '../core/process/environment.ts'
import { LineSplitter } from '../core/text/lines.ts'
import { type Clock, nextTurn, pause } from '../core/time/clock.ts'
import type { OutputSink } from '../definition/job-logger.ts'
import { guard } from './guardian.ts'
import { OutputTail } from './output-tail.ts'
import { permanent } from './permanent.ts'

export interface ChildSettings {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly maxOutput: number
  readonly killAfterMs: number
  readonly clock: Clock
}

export interface ChildExit {
  /** Null if a signal ended the program. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a program as the leader of its own process group until it exits. An abort ends the whole group, then throws the signal's
 * reason once no process of the group is left. If this process is killed, the group is killed with it.
 */
export async function runChild(
  argv: readonly string[],
  input: string,
  settings: ChildSettings,
  signal: AbortSignal,
  output?: OutputSink,
): Promise<ChildExit> {
  signal.throwIfAborted()
  const child = start(argv, settings)
  const unguard = child.pid === undefined ? () => {} : guard(child.pid)
  const stdout = new OutputTail(settings.maxOutput)
  const stderr = new OutputTail(settings.maxOutput)
  child.stdout.on('data', (chunk: Buffer) => stdout.append(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.append(chunk))
  const told = output === undefined ? undefined : tellLines(child, output)
  feed(child, input)
  try {
    const ended = await exited(child, argv, settings, signal)
    await emptied(stdout, stderr)
    return { ...ended, stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    unguard()
    told?.()
    // Background processes left by the program may keep the other ends open forever.
    child.stdin.destroy()
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

function start(argv: readonly string[], { cwd, env }: ChildSettings): ChildProcessWithoutNullStreams {
  const [program, ...args] = argv as [string, ...string[]]
  try {
    return spawn(program, args, { cwd, env, detached: true, windowsHide: true })
  } catch (thrown) {
    throw notStarted(program, cwd, thrown)
  }
}

/** Returns a function that emits the last, unterminated lines. */
function tellLines(child: ChildProcessWithoutNullStreams, output: OutputSink): () => void {
  const splitters = (['stdout', 'stderr'] as const).map((stream) => {
    const splitter = new LineSplitter((line) => output(stream, line))
    child[stream].on('data', (chunk: Buffer) => splitter.write(chunk))
    return splitter
  })
  return () => {
    for (const splitter of splitters) splitter.end()
  }
}

function feed(child: ChildProcessWithoutNullStreams, input: string): void {
  // A program need not read its input, so a closed pipe is not a failure.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
}

async function exited(
  child: ChildProcessWithoutNullStreams,
  argv: readonly string[],
  settings: ChildSettings,
  signal: AbortSignal,
): Promise<Pick<ChildExit, 'exitCode' | 'signal'>> {
  let stopping: Promise<void> | undefined
  const stop = () => {
    if (child.pid !== undefined) stopping = stopGroup(child.pid, settings)
  }
  signal.addEventListener('abort', stop)
  try {
    const ended = await exitOf(child, argv, settings)
    if (stopping === undefined) return ended
    await stopping
    throw signal.reason
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function exitOf(
  child: ChildProcessWithoutNullStreams,
  argv: readonly string[],
  { cwd }: ChildSettings,
): Promise<Pick<ChildExit, 'exitCode' | 'signal'>> {
  return new Promise((resolve, reject) => {
    child.once('error', (thrown) => reject(notStarted(argv[0] as string, cwd, thrown)))
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
}

const groupCheckMs = 20

/** Sends SIGTERM to every process of the group, and SIGKILL to those left after `killAfterMs`. */
async function stopGroup(pid: number, { clock, killAfterMs }: ChildSettings): Promise<void> {
  signalProcessGroup(pid, 'SIGTERM')
  // Only the leader's exit emits an event, so the rest of the group has to be polled.
  for (let leftMs = killAfterMs; signalProcessGroup(pid, 0); leftMs -= groupCheckMs) {
    if (leftMs <= 0) {
      signalProcessGroup(pid, 'SIGKILL')
      return
    }
    await pause(clock, Math.min(groupCheckMs, leftMs))
  }
}

const quietPasses = 2
const maxPasses = 1_000

/**
 * Reads what the program wrote just before it exited: Node does not guarantee the order of output and exit. Background processes
 * may keep the pipes open, so do not wait for the pipes to end. Instead, stop after a few turns of the event loop without new
 * output, or after `maxPasses` in case a background process never stops writing.
 */
async function emptied(...outputs: readonly OutputTail[]): Promise<void> {
  const received = () => outputs.reduce((sum, output) => sum + output.received, 0)
  for (let pass = 0, quiet = 0; quiet < quietPasses && pass < maxPasses; pass++) {
    const before = received()
    await nextTurn()
    quiet = received() === before ? quiet + 1 : 0
  }
}

const lastingReasons = new Set<unknown>(['E2BIG', 'EACCES', 'ENOENT', 'ENOEXEC', 'ENOTDIR', 'EPERM'])

function notStarted(program: string, cwd: string, thrown: unknown): Error {
  const advice = 'Check that the program and the folder exist, and that the worker may use them.'
  const message = `"${program}" could not be started in ${cwd}: ${messageOf(thrown)}. ${advice}`
  const error = new TreadleError('PROGRAM_FAILED', message, { cause: thrown })
  const lasting = thrown instanceof Error && 'code' in thrown && lastingReasons.has(thrown.code)
  return lasting ? permanent(error) : error
}
