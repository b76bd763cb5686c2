import type { Command } from 'commander'
import type { Treadle } from '../app/treadle.ts'
import { TreadleError } from '../core/errors.ts'
import { systemClock } from '../core/time/clock.ts'
import { endedWithin } from '../core/time/ended-within.ts'
import { openMemory } from '../engines/memory/index.ts'
import type { JobStore } from '../queue/contract/store.ts'
import { closingMs } from '../worker/loop/last-calls.ts'
import { dataOnly } from './output/data-only.ts'
import { Output } from './output/output.ts'
import { visible } from './output/text.ts'
import { type OpenOptions, openProject, type Project, type ProjectOptions, refuseMissing } from './project.ts'

export interface GlobalOptions extends ProjectOptions {
  readonly backend?: string
  readonly json?: boolean
  readonly color?: boolean
  readonly verbose?: boolean
  /** Only of a worker process that another one supervises. */
  readonly supervised?: unknown
}

/** What every command gets. */
export interface Session {
  readonly out: Output
  readonly now: number
}

export interface ProjectSession extends Session {
  readonly project: Project
  readonly jobs: Treadle
}

export interface StoreSession extends ProjectSession {
  readonly store: JobStore
}

type Answer = Promise<number | void>

/** Runs a command that needs no project. Its return value is the exit code. */
export async function withOutput(command: Command, run: (session: Session) => Answer): Promise<void> {
  process.exitCode = (await run({ out: outputOf(command), now: systemClock.now() })) ?? 0
}

/** Runs a command with the project's config, without loading its job files. */
export async function withProject(
  command: Command,
  run: (session: ProjectSession) => Answer,
  open: OpenOptions = {},
): Promise<void> {
  await withOutput(command, async (session) => {
    const options = command.optsWithGlobals<GlobalOptions>()
    const whole = await openProject(options, process.cwd(), open)
    for (const note of whole.notes) session.out.note(`note: ${visible(note)}`)
    try {
      const project = options.backend === undefined ? whole : await inBackend(whole, options.backend)
      return await run({ ...session, project, jobs: project.jobs })
    } finally {
      // The process exits soon after, whatever the database still does.
      await endedWithin(closingMs, whole.jobs.close())
    }
  })
}

/** Runs a command on the jobs of an existing queue. Works even if a job file is broken. */
export async function withStore(command: Command, run: (session: StoreSession) => Answer, open: OpenOptions = {}): Promise<void> {
  await withProject(
    command,
    async (session) => {
      refuseMissing(session.project.missingFile)
      return run({ ...session, store: await session.jobs.store() })
    },
    open,
  )
}

/** The same for a command that only reads. */
export function lookIntoStore(command: Command, run: (session: StoreSession) => Answer): Promise<void> {
  return withStore(command, run, lookOnly)
}

/** Runs a command that needs all jobs of the project: fails if any file cannot be loaded. */
export async function withJobs(
  command: Command,
  run: (session: ProjectSession) => Answer,
  open: OpenOptions = {},
): Promise<void> {
  await withProject(
    command,
    async (session) => {
      const { problems } = await session.project.loadJobs()
      const messages = [...problems.map((problem) => problem.message), ...session.jobs.problems()]
      if (messages.length === 0) return run(session)
      const code = problems[0]?.code ?? 'DEFINITION_INVALID'
      throw new TreadleError(code, messages.join('; '), { cause: problems[0] })
    },
    open,
  )
}

/**
 * Loads what can be loaded, and reports the rest. False if not all jobs are known: some are broken, or there is no
 * config.
 */
export async function loadSoundJobs({ project, jobs, out }: ProjectSession): Promise<boolean> {
  const loaded = await project.loadJobs()
  const problems = [...loaded.problems.map(({ message }) => message), ...jobs.problems()]
  for (const problem of problems) out.note(`note: ${visible(problem)}`)
  return problems.length === 0 && project.configPath !== null
}

/**
 * For a command that must neither create nor change a database. If there is none, or it has no tables, the command
 * reads an empty one.
 */
export const lookOnly: OpenOptions = { changes: { migrate: false }, standIn: () => openMemory({ clock: systemClock }) }

/** The project as seen from one of its backends. */
async function inBackend(project: Project, name: string): Promise<Project> {
  const jobs = await project.jobs.backend(name)
  return jobs === project.jobs ? project : { ...project, jobs, url: jobs.url, missingFile: null }
}

function outputOf(command: Command): Output {
  const { json = false, color = true, supervised } = command.optsWithGlobals<GlobalOptions>()
  const colour = color && !process.env.NO_COLOR
  // The supervisor of a process marks what it prints beside its data.
  const stdout = json && supervised === undefined ? dataOnly() : process.stdout
  return new Output({ json, colour, stdout, stderr: process.stderr })
}
