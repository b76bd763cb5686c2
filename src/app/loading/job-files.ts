import { type Dirent, readdirSync, statSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { messageOf, TreadleError } from '../../core/errors.ts'
import { refuseUntrusted, trustProblem } from '../../core/files/file-trust.ts'
import { classKey, type Handler, handlerClassOf } from '../../definition/handler.ts'
import { defaultExport, loadModule } from '../module-loader.ts'
import type { Treadle } from '../treadle.ts'

/** The part of the program that jobs are registered with. */
export type JobTarget = Pick<Treadle, 'define' | 'has'>

/**
 * Loads all job files from these folders and files. Throws once, with all problems. A file defines its jobs itself or has a
 * handler as its default export: a class is defined under its static `jobName` or its name, a function under the name of the
 * file.
 */
export async function loadJobFiles(target: JobTarget, paths: readonly string[]): Promise<readonly string[]> {
  const { files, problems } = await tryJobFiles(target, paths)
  const [problem] = problems
  if (problem === undefined) return files
  if (problems.length === 1) throw problem
  throw new TreadleError('CONFIG_LOAD_FAILED', problems.map((each) => each.message).join('; '), { cause: problem })
}

export interface LoadedJobFiles {
  readonly files: readonly string[]
  readonly problems: readonly TreadleError[]
}

/** The same, but returns all problems separately. */
export async function tryJobFiles(target: JobTarget, paths: readonly string[]): Promise<LoadedJobFiles> {
  const { files, problems } = findJobFiles(paths)
  const definedBy = new Map<string, string>()
  for (const file of files) {
    try {
      await loadJobFile(target, file, definedBy)
    } catch (thrown) {
      problems.push(thrown instanceof TreadleError ? thrown : new TreadleError('CONFIG_LOAD_FAILED', messageOf(thrown)))
    }
  }
  return { files, problems }
}

const jobExtensions = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']
/** Type declarations, tests and hidden files. */
const notJobs = /^\.|\.d\.[mc]?ts$|\.(?:test|spec)\.[mc]?[tj]s$/i

function findJobFiles(paths: readonly string[]): { files: readonly string[]; problems: TreadleError[] } {
  const files = new Set<string>()
  const problems: TreadleError[] = []
  for (const path of paths.map((each) => resolve(each))) {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) problems.push(new TreadleError('CONFIG_INVALID', `The jobs path ${path} does not exist`))
    else if (!found.isDirectory()) files.add(path)
    else {
      // A job file may import any file next to it, so one untrusted file rules out the whole folder.
      // Files share the folders above them, so they can share a problem.
      const untrusted = new Set(
        filesIn(path, isLoadable)
          .map((each) => trustProblem(each))
          .filter((problem) => problem !== undefined),
      )
      for (const problem of untrusted) problems.push(new TreadleError('FILE_UNTRUSTED', problem))
      if (untrusted.size === 0) for (const file of filesIn(path, isJobFile)) files.add(file)
    }
  }
  return { files: [...files], problems }
}

function isLoadable(name: string): boolean {
  return [...jobExtensions, '.json', '.node'].includes(extname(name))
}

function isJobFile(name: string): boolean {
  return jobExtensions.includes(extname(name)) && !notJobs.test(name)
}

function filesIn(folder: string, isWanted: (name: string) => boolean): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return holdsJobs(entry) ? filesIn(path, isWanted) : []
    return isWanted(entry.name) ? [path] : []
  })
}

function holdsJobs(folder: Dirent): boolean {
  return !['node_modules', '__tests__', '__mocks__'].includes(folder.name) && !folder.name.startsWith('.')
}

/**
 * A class has the key that `dispatch` uses for it, regardless of its file. A function or an anonymous class has the name of its
 * file.
 */
function keyOf(handler: unknown, file: string): string {
  const handlerClass = handlerClassOf(handler)
  const key = handlerClass === null ? '' : classKey(handlerClass)
  return key === '' || key === 'default' ? basename(file, extname(file)) : key
}

async function loadJobFile(target: JobTarget, file: string, definedBy: Map<string, string>): Promise<void> {
  refuseUntrusted(file)
  const handler = defaultExport(await loadModule(file), file)
  if (typeof handler !== 'function') return
  const job = keyOf(handler, file)
  const other = definedBy.get(job)
  if (other !== undefined) {
    const message = `${file}: its default export would be the job "${job}", which is already defined by ${other}. Rename one of the files.`
    throw new TreadleError('JOB_DUPLICATE', message)
  }
  if (target.has(job)) return
  definedBy.set(job, file)
  try {
    target.define(job, handler as Handler<unknown, unknown>)
  } catch (thrown) {
    const code = thrown instanceof TreadleError ? thrown.code : 'CONFIG_LOAD_FAILED'
    throw new TreadleError(code, `${file}: ${messageOf(thrown)}`, { cause: thrown })
  }
}
