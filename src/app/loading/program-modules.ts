import nodeModule from 'node:module'
import { TreadleError } from '../../core/errors.ts'
import { mainScript } from '../../core/process/environment.ts'
import type { IsolateModules } from '../../isolation/wire/messages.ts'

type Project = Omit<IsolateModules & { readonly kind: 'project' }, 'kind'>

let loaded: Project | undefined

/** Remembers the modules that the command line loads instead of a main script. */
export function setProjectModules(project: Project): void {
  loaded = project
}

/**
 * Where an isolate finds the jobs of this program: in the module that the definition names, or else in the modules of the
 * program.
 */
export function isolateModules(from: string | null): IsolateModules {
  if (from !== null) return { kind: 'module', path: from }
  if (loaded !== undefined) return { kind: 'project', ...loaded }
  const path = mainScript()
  const resolved = path === undefined ? undefined : resolveScript(path)
  if (resolved !== undefined) return { kind: 'module', path: resolved }
  const message =
    'This program has no main script that an isolate could load. Name the module: .isolate(…, { from: import.meta.url })'
  throw new TreadleError('JOB_UNKNOWN', message)
}

/** Node also accepts a main script without its extension, or its folder. */
function resolveScript(path: string): string | undefined {
  try {
    // Not as a named import: webpack would replace the call by a search among the files that it knows.
    return nodeModule.createRequire(path).resolve(path)
  } catch {
    return undefined
  }
}
