import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf, TreadleError } from '../../core/errors.ts'
import { inFolder } from '../../core/process/environment.ts'
import type { IsolateModules } from '../../isolation/wire/messages.ts'
import { loadConfigFile } from '../config/config-file.ts'
import { configure, jobs } from '../default-instance.ts'
import { loadModule } from '../module-loader.ts'
import { type JobTarget, loadJobFiles } from './job-files.ts'

/** Loads the modules that define a program's jobs into an isolate. */
export async function loadIsolateModules(modules: IsolateModules): Promise<void> {
  if (modules.kind === 'project') await loadProject(modules)
  else await (isTypeScript(modules.path) ? loadModule(modules.path) : importModule(modules.path))
}

type ProjectModules = IsolateModules & { readonly kind: 'project' }

async function loadProject(modules: ProjectModules): Promise<void> {
  await loadJobFiles(await projectJobs(modules), modules.jobs)
}

async function projectJobs({ config: path, url, coordination, folder }: ProjectModules): Promise<JobTarget> {
  const loaded = path === null ? null : await inFolder(folder, () => loadConfigFile(path))
  if (loaded !== null && 'instance' in loaded) return loaded.instance
  const { backend, coordination: said, ...config } = loaded?.config ?? {}
  const own = { ...(backend && { backend }), ...(said && { coordination: said }) }
  configure({ ...config, ...(url === null ? own : { url }), ...(coordination !== null && { coordination }) }, folder)
  return jobs
}

function isTypeScript(path: string): boolean {
  return ['.ts', '.mts', '.cts', '.tsx'].includes(extname(path))
}

/** Imported the same way as the program itself, so that both share their imports. */
async function importModule(path: string): Promise<void> {
  try {
    await import(/* @vite-ignore */ /* webpackIgnore: true */ pathToFileURL(path).href)
  } catch (thrown) {
    throw new TreadleError('CONFIG_LOAD_FAILED', `${path}: ${messageOf(thrown)}`, { cause: thrown })
  }
}
