import { unknownOptions } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'
import { jobNameProblem, refuse } from '../names.ts'

/** A job, given by its key or its builder. */
export type JobReference = string | { readonly job: string }

/** What happens to a scheduled run when a job it depends on failed, was skipped or never ran. */
export type OnFailure = 'skip' | 'run' | 'fail'

/** A schedule that another schedule waits for, and what to do if it fails. */
export interface Dependency {
  readonly job: string
  readonly onFailure: OnFailure
}

/** Options of `dependsOn` for scheduled jobs. */
export interface DependencyOptions {
  /** `skip` (the default) ends the run as skipped, `run` runs it anyway, and `fail` ends it as dead. */
  readonly onFailure?: OnFailure
}

const accepted: readonly OnFailure[] = ['skip', 'run', 'fail']

export function dependencyProblem({ job, onFailure }: Dependency): string | undefined {
  if (!accepted.includes(onFailure)) return `onFailure must be 'skip', 'run' or 'fail', got ${shown(onFailure)}`
  return jobNameProblem(job, 'a job that it depends on')
}

/** Of a job, its key; or a dependency as it is. Anything else has no key, which `dependencyProblem` refuses. */
export function dependencyOf(given: JobReference | Dependency): Dependency {
  if (typeof given === 'string') return { job: given, onFailure: 'skip' }
  const { job, onFailure } = Object(given) as Partial<Dependency>
  return { job: job ?? (given as never), onFailure: onFailure ?? 'skip' }
}

/** The job keys named by the arguments of `after()` and `dependsOn()`. */
export function referencedJobs(job: string, word: string, references: readonly unknown[]): readonly string[] {
  const names = references.map((each) => (isObject(each) && 'job' in each ? each.job : each))
  const none = names.length === 0 ? `${word} names no job: give the key or the builder of at least one` : undefined
  refuse(`Job "${job}"`, [none, ...names.map((name) => jobNameProblem(name, `the job in ${word}`))])
  return names as readonly string[]
}

/** Parses the arguments of `dependsOn()`: jobs, one by one or in a list, optionally followed by options. */
export function dependenciesOf(job: string, args: readonly unknown[]): readonly Dependency[] {
  const last = args.at(-1)
  const hasOptions = isObject(last) && !Array.isArray(last) && !('job' in last)
  const options: DependencyOptions = hasOptions ? last : {}
  const { onFailure = 'skip' } = options
  const names = referencedJobs(job, 'dependsOn()', (hasOptions ? args.slice(0, -1) : args).flat())
  const dependencies = names.map((name) => ({ job: name, onFailure }))
  refuse(`Job "${job}"`, [...unknownOptions(options, ['onFailure']), ...dependencies.map(dependencyProblem)])
  return dependencies
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
