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
  if (configured !== undefined) {
    const { config, folder } = configured
    return placeOf(config, config.url ?? environmentVariable('TREADLE_URL'), folder)
  }
  const path = findConfigFile(workingFolder())
  const loaded = path === null ? null : await loadConfigFile(path)
  const config = loaded !== null && 'config' in loaded ? loaded.config : {}
  return placeOf(config, environmentVariable('TREADLE_URL') ?? config.url, loaded?.folder ?? workingFolder())
}

function placeOf(config: TreadleConfig, url: string | undefined, folder: string): Place {
  const { url: _url, jobs: _jobs, worker: _worker, ...options } = config
  return { url: url ?? defaultUrl, options, folder }
}
