import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf, TreadleError } from '../../core/errors.ts'
import { inFolder } from '../../core/process/environment.ts'
import type { IsolateModules } from '../../isolation/wire/messages.ts'
import { loadConfigFile } from '../config/config-file.ts'
import { configure, jobs } from '../default-instance.ts'
import { loadModule } from '../module-loader.ts'
import { type JobTarget, loadJobFiles } from './job-files.ts'

/** Loads what defines the jobs of a program, in an isolate. */
export async function loadIsolateModules(modules: IsolateModules): Promise<void> {
  if (modules.kind === 'project') await loadProject(modules)
  else await (isTypeScript(modules.path) ? loadModule(modules.path) : importModule(modules.path))
}

async function loadProject({ config, url, folder, jobs: paths }: IsolateModules & { readonly kind: 'project' }): Promise<void> {
  await loadJobFiles(await projectJobs(config, url, folder), paths)
}

async function projectJobs(path: string | null, url: string | null, folder: string): Promise<JobTarget> {
  const loaded = path === null ? null : await inFolder(folder, () => loadConfigFile(path))
  if (loaded !== null && 'instance' in loaded) return loaded.instance
  const { backend, ...config } = loaded?.config ?? {}
  configure(url === null ? { ...config, ...(backend && { backend }) } : { ...config, url }, folder)
  return jobs
}

function isTypeScript(path: string): boolean {
  return ['.ts', '.mts', '.cts', '.tsx'].includes(extname(path))
}

/** As the program itself was loaded, so that what it imports is the same. */
async function importModule(path: string): Promise<void> {
  try {
    await import(/* @vite-ignore */ pathToFileURL(path).href)
  } catch (thrown) {
    throw new TreadleError('CONFIG_LOAD_FAILED', `${path}: ${messageOf(thrown)}`, { cause: thrown })
  }
}
