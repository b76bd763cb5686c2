import { existsSync } from 'node:fs'
import { jobs as defaultJobs } from '../app/default-instance.ts'
import { undeliverable } from '../app/dispatching/undeliverable.ts'
import type { Treadle } from '../app/treadle.ts'
import { messageOf, TreadleError } from '../core/errors.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { unknownJobsProblem } from './jobs/known-jobs.ts'
import { iso } from './output/jobs/jobs.ts'
import { plural } from './output/text.ts'
import { openProject, type Project, type ProjectOptions } from './project.ts'
import { limitsOf, type RunLimits, type RunRules, rulesOf } from './schedules/run-rules.ts'

export interface CheckReport {
  readonly config: string | null
  readonly url: string | null
  readonly files: readonly string[]
  readonly jobs: readonly CheckedJob[]
  readonly problems: readonly string[]
  /** Things that work but are probably unintended. */
  readonly warnings: readonly string[]
}

export interface CheckedJob {
  readonly job: string
  readonly queue: string
  readonly retries: number
  readonly schedule: string | null
  readonly timezone: string | null
  readonly enabled: boolean
  readonly environments: readonly string[]
  /**
   * Null without a schedule, and for a repeat: its first run comes at once, and each later run is timed from the one
   * before.
   */
  readonly nextAt: string | null
  readonly isRepeat: boolean
  readonly limits: RunLimits
  /** Null without a schedule. */
  readonly rules: RunRules | null
}

/** Returns all problems of the config, the job files and the jobs at once. Opens no database. */
export async function checkProject(options: ProjectOptions, folder: string, now: number): Promise<CheckReport> {
  const refused: TreadleError[] = []
  try {
    const project = await openProject(options, folder, { onRefused: (each) => void refused.push(each) })
    const report = await checkOpened(project, now)
    if (refused.length === 0) return report
    // Without a valid config, the database is unknown.
    return { ...report, url: null, problems: [...refused.flatMap(singleProblems), ...report.problems] }
  } catch (thrown) {
    if (!(thrown instanceof TreadleError)) throw thrown
    return { config: null, url: null, files: [], jobs: [], problems: singleProblems(thrown), warnings: [] }
  }
}

function singleProblems({ message, cause }: TreadleError): readonly string[] {
  return cause instanceof AggregateError ? cause.errors.map(messageOf) : [message]
}

async function checkOpened(project: Project, now: number): Promise<CheckReport> {
  const { files, problems } = await project.loadJobs()
  const unsound = [...problems.map(({ message }) => message), ...project.jobs.problems()]
  const definitions = unsound.length === 0 ? project.jobs.definitions() : []
  const missing = unsound.length === 0 ? missingJobs(project, files.length) : []
  const wrong = [...unsound, ...missing, ...undeliverable(definitions, project.url, project.hasTransactions)]
  return {
    config: project.configPath,
    url: project.url,
    files,
    jobs: definitions.map((definition) => checkedJob(definition, now)),
    problems: [...wrong, ...definitions.flatMap(isolateProblems)],
    warnings: [...project.notes, ...definitions.flatMap((definition) => scheduleWarnings(definition, now))],
  }
}

/** Jobs that should be defined but are not. If a file could not be loaded, they may be in that file. */
function missingJobs({ jobs, configPath, worker }: Project, files: number): readonly string[] {
  if (files > 0 && jobs.definitions().length === 0) return [undefinedProblem(jobs, configPath, files)]
  const unknown = unknownJobsProblem(jobs, worker.jobs ?? [])
  return unknown === undefined ? [] : [`${configPath}: worker: jobs: ${unknown}`]
}

function undefinedProblem(jobs: Treadle, configPath: string | null, files: number): string {
  const found = `No job is defined here, although ${plural(files, 'job file was', 'job files were')} loaded`
  const unseen = 'jobs defined on another instance (treadle(…)) belong only to that instance'
  if (jobs !== defaultJobs) return `${found}: ${unseen}. Define them on the instance that ${configPath} exports.`
  return `${found}: ${unseen}. Define them on the common one: import { jobs } from 'treadle'; or export yours as the default of ${configPath}.`
}

function checkedJob(definition: JobDefinition, now: number): CheckedJob {
  const { job, queue, schedule, enabled, environments } = definition.fields
  return {
    job,
    queue,
    retries: definition.maxRetries,
    schedule: schedule?.expression ?? null,
    timezone: schedule?.timezone ?? null,
    enabled,
    environments,
    nextAt: schedule?.kind === 'calendar' ? iso(schedule.next(now)) : null,
    isRepeat: schedule?.kind === 'repeat',
    limits: limitsOf(definition),
    rules: schedule === null ? null : rulesOf(definition),
  }
}

function isolateProblems({ job, fields }: JobDefinition): readonly string[] {
  const from = fields.isolation?.from ?? null
  return from === null || existsSync(from) ? [] : [`Job "${job}": the module that its isolate loads does not exist: ${from}`]
}

function scheduleWarnings({ job, fields }: JobDefinition, now: number): readonly string[] {
  const warnings = fields.schedule?.explain({ from: now, count: 1 }).warnings ?? []
  return warnings.map((warning) => `The schedule of "${job}" (${fields.schedule?.expression}): ${warning}`)
}
