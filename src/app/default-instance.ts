import { environmentVariable, workingFolder } from '../core/environment.ts'
import type { TreadleConfig } from './config.ts'
import { findConfigFile, loadConfigFile } from './config-file.ts'
import { defaultUrl, type Place, Treadle } from './treadle.ts'

let configured: { readonly config: TreadleConfig; readonly folder: string } | undefined

/**
 * The instance for programs that need only one. Where it opens is decided when it is first used: what `configure()` said, else
 * TREADLE_URL, else the nearest `treadle.config.*`, else `sqlite:treadle.db`.
 */
export const jobs: Treadle = new Treadle(place)

/** Says where the default instance opens. Has no effect once it was used. */
export function configure(config: TreadleConfig, folder: string = workingFolder()): void {
  configured = { config, folder }
}

async function place(): Promise<Place> {
  if (configured !== undefined) return placeOf(configured.config, configured.folder)
  const path = findConfigFile(workingFolder())
  if (path === null) return placeOf({}, workingFolder())
  const loaded = await loadConfigFile(path)
  return placeOf('config' in loaded ? loaded.config : {}, loaded.folder)
}

function placeOf(config: TreadleConfig, folder: string): Place {
  const { url, jobs: _jobs, worker: _worker, ...options } = config
  return { url: environmentVariable('TREADLE_URL') ?? url ?? defaultUrl, options, folder }
}
