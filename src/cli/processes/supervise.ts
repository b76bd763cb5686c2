import { isatty } from 'node:tty'
import { type ErrorCode, errorCodes, TreadleError } from '../../core/errors.ts'
import { systemClock } from '../../core/time/clock.ts'
import { workerConfig } from '../../worker/config.ts'
import type { WorkOptions } from '../../worker/options.ts'
import { type SupervisorOptions, supervisorConfig } from '../../worker/supervisor/config.ts'
import type { Tell } from '../../worker/supervisor/events.ts'
import type { ChildListener, StartChild } from '../../worker/supervisor/messages.ts'
import { StartRefused } from '../../worker/supervisor/refusals.ts'
import type { SupervisorReport } from '../../worker/supervisor/supervisor.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Output } from '../output/output.ts'
import {
  childEventJson,
  childEventLine,
  childJson,
  childLine,
  isChildTrouble,
  supervisorStoppedText,
} from '../output/workers/children.ts'
import type { ProjectSession } from '../session.ts'
import { stopRequest } from '../working/signals.ts'
import { log, openedForWork, printEvent, refuseUnworkable, tellStart } from '../working/working.ts'
import { startChild } from './start-child.ts'

export interface Supervising {
  readonly given: WorkOptions
  readonly quiet: boolean
  readonly processes: SupervisorOptions
}

/** Keeps worker processes running until it is stopped. Returns the exit code. */
export async function superviseWorking(session: ProjectSession, supervising: Supervising): Promise<number> {
  const { project, jobs, out } = session
  const { quiet, processes } = supervising
  const worker = { ...project.worker, ...supervising.given }
  const { drainMs } = supervisorConfig(processes, workerConfig(worker, 'work'))
  refuseUnworkable(jobs, worker)
  let uncounted = 0
  const start: StartChild = (place, listener) => {
    const output = childOutput(out, () => ({ child: place, pid: handle.pid }))
    const counting = noticingSilence(listener, () => uncounted++)
    const handle = startChild({ parent: process.pid, place, drainMs }, counting, output)
    return handle
  }
  await openedForWork(jobs)
  const supervisor = await jobs.supervise({ ...processes, worker, start, tell: teller(out, quiet) })
  log(jobs, out, quiet)
  if (!quiet) await tellStart(session, 'work', { ...worker, processes: processes.processes })
  const stages = watchStages(out, {
    stop: () => supervisor.stop(),
    abort: () => supervisor.abort(),
    kill: () => supervisor.kill(),
    roll: () => supervisor.roll(),
  })
  const report = { ...(await untilRefused(supervisor.run())), uncounted }
  if (!quiet) printEvent(out, { event: 'worker:stopped', ...report }, supervisorStoppedText(report))
  return stages.isAborted() ? exitCodes.interrupted : exitCodes.ok
}

/** Calls back if a process that has worked ends without a report: it was killed. */
function noticingSilence(listener: ChildListener, onSilentEnd: () => void): ChildListener {
  let isSilent = false
  return {
    onMessage: (message) => {
      if (message.kind === 'ready') isSilent = true
      if (message.kind === 'report') isSilent = false
      listener.onMessage(message)
    },
    onExit: (exit) => {
      if (isSilent) onSilentEnd()
      listener.onExit(exit)
    },
  }
}

/** Fails with the reason that the processes gave. */
async function untilRefused(running: Promise<SupervisorReport>): Promise<SupervisorReport> {
  try {
    return await running
  } catch (thrown) {
    if (!(thrown instanceof StartRefused)) throw thrown
    const { code, message } = thrown.failure
    const known = (errorCodes as readonly string[]).includes(code) ? (code as ErrorCode) : 'CONFIG_INVALID'
    throw new TreadleError(known, message, { cause: thrown })
  }
}

function teller(out: Output, quiet: boolean): Tell {
  return (name, event) => {
    if (quiet && !isChildTrouble(name, event)) return
    out.line(out.json ? childEventJson(name, event, systemClock.now()) : childEventLine(name, event, out.colours))
  }
}

function childOutput(out: Output, who: () => { readonly child: number; readonly pid: number }) {
  return {
    line: (text: string) => out.line(out.json ? childJson(who(), text) : childLine(who(), text, out.colours)),
    note: (text: string) => out.note(childLine(who(), text, out.colours)),
  }
}

interface Stages {
  stop(): void
  abort(): void
  kill(): void
  roll(): void
}

/** The first signal drains the processes, the second aborts their jobs, the third kills them; SIGHUP replaces them. */
function watchStages(out: Output, stages: Stages): { isAborted(): boolean } {
  let more = 0
  const terminals = [0, 1, 2].filter((stream) => isatty(stream))
  const stop = stopRequest(
    () => out.note('stopping: waiting for running jobs; press Ctrl-C again to abort them'),
    () => {
      more++
      out.note(more === 1 ? 'aborting' : 'killing')
      if (more === 1) stages.abort()
      else stages.kill()
    },
    () => {
      // Closing the terminal sends the same signal, and then no one is left to press Ctrl-C.
      if (terminals.some((stream) => !isatty(stream))) return false
      stages.roll()
      return true
    },
  )
  if (stop.signal.aborted) stages.stop()
  else stop.signal.addEventListener('abort', () => stages.stop())
  return { isAborted: () => more > 0 }
}
