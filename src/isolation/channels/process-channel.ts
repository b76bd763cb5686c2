import { type ChildProcess, spawn } from 'node:child_process'
import { Duplex, PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { TreadleError } from '../../core/errors.ts'
import { signalProcessGroup } from '../../core/process/environment.ts'
import { systemClock } from '../../core/time/clock.ts'
import { OutputTail } from '../../handlers/output-tail.ts'
import { type Death, megabytes } from '../death.ts'
import { isolatePipe, readFrames, writeFrame } from '../wire/frames.ts'
import type { Channel, ChannelEvents, ChannelOptions } from './channel.ts'

const maxTail = 8 * 1024
/** How long to wait for the last output. Background processes left by the isolate may keep it open forever. */
const lastWordsMs = 500

export function openProcess({ entry, memoryBytes }: ChannelOptions, events: ChannelEvents): Channel {
  const nodeArgs = [...inheritedArgs(process.execArgv), ...(memoryBytes === null ? [] : [limitArg(memoryBytes)])]
  const child = spawn(process.execPath, [...nodeArgs, fileURLToPath(entry), ...process.argv.slice(2)], {
    // The leader of its own group: what it starts is killed with it, and Ctrl-C in a terminal reaches only the worker.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
  })
  const lastWords = new OutputTail(maxTail)
  child.stdout?.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk)
    events.onOutput('stdout', chunk)
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    lastWords.append(chunk)
    process.stderr.write(chunk)
    events.onOutput('stderr', chunk)
  })
  const kill = () => {
    if (child.pid !== undefined) signalProcessGroup(child.pid, 'SIGKILL')
  }
  const pipe = pipeOf(child)
  let broken: Pick<Death, 'thrown'> | undefined
  readFrames(pipe, {
    onValue: events.onMessage,
    onBroken: (why) => {
      broken = { thrown: new TreadleError('PAYLOAD_TOO_LARGE', `it ${why}`) }
      kill()
    },
    // Usually the process is about to exit. If a handler closed the pipe, the isolate can no longer communicate.
    onEnd: () => void systemClock.timer(lastWordsMs, () => isRunning(child) && kill(), { unref: true }),
  })
  onceEnded(child, (ended) => {
    const isOutOfMemory = ended.signal !== null && /heap out of memory/.test(lastWords.text())
    events.onEnded({ ...ended, ...broken, isOutOfMemory })
  })
  return {
    // Whether it was received shows in the response, or in the end of the process.
    post: (message) => writeFrame(pipe, message),
    hold: (isHeld) => hold(child, isHeld),
    kill,
  }
}

/** Also works for a process that could not be started. */
function pipeOf(child: ChildProcess): Duplex {
  const pipe: unknown = child.stdio[isolatePipe]
  return pipe instanceof Duplex ? pipe : new PassThrough().destroy()
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null
}

type Ended = Omit<Death, 'isOutOfMemory'>

function onceEnded(child: ChildProcess, onEnded: (ended: Ended) => void): void {
  let isTold = false
  const reportEnd = (ended: Ended) => {
    if (!isTold) onEnded(ended)
    isTold = true
  }
  child.on('error', (thrown) => {
    if (child.pid === undefined) reportEnd({ exitCode: null, signal: null, thrown })
  })
  child.on('close', (exitCode, signal) => reportEnd({ exitCode, signal }))
  child.on('exit', (exitCode, signal) => systemClock.timer(lastWordsMs, () => reportEnd({ exitCode, signal }), { unref: true }))
}

function hold(child: ChildProcess, isHeld: boolean): void {
  type Held = { ref?(): void; unref?(): void } | null
  for (const each of [child, pipeOf(child) as Held, child.stdout as Held, child.stderr as Held])
    isHeld ? each?.ref?.() : each?.unref?.()
}

/** Arguments that apply only to the program itself: its code, its debugger and its memory. */
const ownArgs = /^--(?:inspect|input-type|max[-_]old[-_]space[-_]size|test|watch)/
const codeArgs = /^(?:-e|-p|-pe|--eval|--print)$/

function inheritedArgs(args: readonly string[]): readonly string[] {
  return args.filter((arg, index) => !ownArgs.test(arg) && !codeArgs.test(arg) && !codeArgs.test(args[index - 1] ?? ''))
}

function limitArg(memoryBytes: number): string {
  return `--max-old-space-size=${megabytes(memoryBytes)}`
}
