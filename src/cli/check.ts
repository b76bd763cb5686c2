import { messageOf, TreadleError } from '../core/errors.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { iso } from './output/jobs.ts'
import { openProject, type Project, type ProjectOptions } from './project.ts'

export interface CheckReport {
  readonly config: string | null
  readonly url: string | null
  readonly files: readonly string[]
  readonly jobs: readonly CheckedJob[]
  readonly problems: readonly string[]
}

export interface CheckedJob {
  readonly job: string
  readonly queue: string
  readonly retries: number
  readonly schedule: string | null
  readonly timezone: string | null
  readonly enabled: boolean
  readonly environments: readonly string[]
  readonly nextAt: string | null
}

/** Everything that is wrong with the config, the job files and the jobs, at once. Opens no database. */
export async function checkProject(options: ProjectOptions, folder: string, now: number): Promise<CheckReport> {
  try {
    return await checkOpened(await openProject(options, folder), now)
  } catch (thrown) {
    if (!(thrown instanceof TreadleError)) throw thrown
    const { cause } = thrown
    const problems = cause instanceof AggregateError ? cause.errors.map(messageOf) : [thrown.message]
    return { config: null, url: null, files: [], jobs: [], problems }
  }
}

async function checkOpened(project: Project, now: number): Promise<CheckReport> {
  const { files, problems } = await project.loadJobs()
  const wrong = [...problems.map(({ message }) => message), ...project.jobs.problems()]
  return {
    config: project.configPath,
    url: project.url,
    files,
    jobs: wrong.length === 0 ? project.jobs.definitions().map((definition) => checkedJob(definition, now)) : [],
    problems: wrong,
  }
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
    nextAt: iso(schedule?.next(now) ?? null),
  }
}
