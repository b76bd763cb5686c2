import type { Treadle } from '../../app/treadle.ts'
import { TreadleError } from '../../core/errors.ts'
import { systemClock } from '../../core/time/clock.ts'
import { type HealthOptions, listenHealth } from '../../server/health.ts'
import { workerConfig } from '../../worker/config.ts'
import type { DaemonOptions, WorkOptions } from '../../worker/options.ts'
import type { RunReport } from '../../worker/runs/report.ts'
import { exitCodes } from '../exit-codes.ts'
import { refuseUnknownJobs } from '../jobs/known-jobs.ts'
import { ToldWaits } from '../output/jobs/told-waits.ts'
import type { Output } from '../output/output.ts'
import { isWorthALine, tickJson, tickLine } from '../output/schedules/ticks.ts'
import { startText, stoppedText, tickOf } from '../output/workers/work-frame.ts'
import { eventJson, eventLine, isTrouble, loggedEvents } from '../output/workers/work-log.ts'
import type { ProjectSession } from '../session.ts'
import { watchSignals } from './watched-signals.ts'
import { boundedWork, type WorkBounds } from './work-bounds.ts'
import { unusedQueuesNote } from './worker-options.ts'

/** What the command line asks for; the config and the defaults provide the rest. */
export type Working = { readonly quiet: boolean; readonly bounds?: WorkBounds; readonly health?: HealthOptions } & (
  | { readonly kind: 'work'; readonly given: WorkOptions; readonly once?: boolean }
  | { readonly kind: 'daemon'; readonly given: DaemonOptions; readonly verbose: boolean }
)

/** Works until it is stopped, and prints what happens. Returns the exit code. */
export async function keepWorking(session: ProjectSession, working: Working): Promise<number> {
  const { project, jobs, out } = session
  const options = { ...project.worker, ...working.given }
  // Validate before announcing that the worker starts.
  workerConfig(options, working.kind)
  refuseUnworkable(jobs, options)
  await openedForWork(jobs)
  const stop = watchSignals(out, () => void jobs.stop({ abort: true }))
  log(jobs, out, working.quiet)
  if (working.kind === 'daemon' && !working.quiet) logTicks(jobs, out, tickOf(options), working.verbose)
  if (!working.quiet) await tellStart(session, working.kind, options)
  const signal = AbortSignal.any([stop.signal, boundedWork(jobs, out, working.bounds ?? {})])
  const all = { ...options, signals: false, signal }
  const health = working.health === undefined ? null : await listenHealth(jobs, working.health)
  if (health !== null && !working.quiet) {
    const { host, port } = health.address
    printEvent(out, { event: 'health:listening', host, port }, `health on http://${host}:${port}/ready, /live and /metrics`)
  }
  const report = await begun(jobs, working, all).finally(() => health?.close())
  if (!working.quiet) printEvent(out, { event: 'worker:stopped', ...report }, stoppedText(report))
  return stop.isAborted() ? exitCodes.interrupted : exitCodes.ok
}

/** Opens the queue, however long that takes. Until there is something to stop in stages, any signal ends the program. */
export async function openedForWork(jobs: Treadle): Promise<void> {
  await jobs.open({ wait: new AbortController().signal })
}

function begun(jobs: Treadle, working: Working, all: DaemonOptions): Promise<RunReport> {
  if (working.kind === 'daemon') return jobs.daemon(all)
  if (working.once !== true) return jobs.work(all)
  // A pass neither polls nor waits: it ends by itself.
  const { poll: _poll, grace: _grace, tick: _tick, maxOverruns: _overruns, ...pass } = all
  return jobs.run(pass)
}

export function refuseUnworkable(jobs: Treadle, options: WorkOptions): void {
  refuseUnknownJobs(jobs, options.jobs ?? [])
  if (jobs.definitions().some(({ fields }) => fields.handler !== null)) return
  throw new TreadleError('CONFIG_INVALID', 'There is nothing to run: no job is defined. Add one to the jobs folder.')
}

/** Prints how jobs end. */
export function log(jobs: Treadle, out: Output, quiet: boolean): void {
  const waits = new ToldWaits()
  for (const name of loggedEvents) {
    if (quiet && !isTrouble(name)) continue
    jobs.on(name, (event) => {
      if (!waits.isNews(name, event)) return
      out.line(out.json ? eventJson(name, event, systemClock.now()) : eventLine(name, event, out.colours))
    })
  }
}

function logTicks(jobs: Treadle, out: Output, tickMs: number, all: boolean): void {
  jobs.on('schedule:tick', (tick) => {
    if (out.json) out.line(tickJson(tick))
    else if (all || isWorthALine(tick, tickMs)) out.line(tickLine(tick, tickMs, out.colours))
  })
}

/** Schedules that are disabled, or meant for another environment, are not followed here. */
async function followedCount(jobs: Treadle, { scheduler }: DaemonOptions): Promise<number> {
  if (scheduler === false || !jobs.definitions().some(({ fields }) => fields.schedule !== null)) return 0
  const schedules = await jobs.schedules.dryRun()
  return schedules.filter(({ leftOut }) => leftOut === null || leftOut === 'paused').length
}

export async function tellStart(
  { project, jobs, out }: ProjectSession,
  kind: Working['kind'],
  options: DaemonOptions & { readonly processes?: number },
): Promise<void> {
  const { configPath } = project
  const { concurrency = 10, queues, jobs: only, scheduler = true, processes, backend } = options
  const url = backend === undefined ? await urlsOf(jobs, project.url) : project.url
  const definitions = jobs.definitions()
  const names = only ?? definitions.map(({ job }) => job)
  const schedules = await followedCount(jobs, options)
  const started = {
    ...{ url, config: configPath, queues: queues ?? null, jobs: names, concurrency, scheduler, schedules },
    ...(kind === 'daemon' && { tickMs: tickOf(options) }),
    ...(processes !== undefined && { processes }),
  }
  printEvent(out, { event: 'worker:started', ...started }, startText(started))
  const note = unusedQueuesNote(definitions, queues)
  if (note !== undefined) out.note(note)
}

/** With several backends, it works on all of them. */
async function urlsOf(jobs: Treadle, url: string): Promise<string> {
  const [, ...names] = await jobs.backendNames()
  const others = await Promise.all(names.map((name) => jobs.backend(name)))
  return [url, ...others.map((other) => other.url)].join(', ')
}

export function printEvent(out: Output, event: object, text: string): void {
  out.line(out.json ? JSON.stringify({ ...event, at: new Date(systemClock.now()).toISOString() }) : text)
}
