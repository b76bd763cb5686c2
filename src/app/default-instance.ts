import { TreadleError } from '../core/errors.ts'
import { environmentVariable, workingFolder } from '../core/process/environment.ts'
import { coordinationAt, defaultUrlOf } from './config/backend-place.ts'
import type { TreadleConfig } from './config/config.ts'
import { findConfigFile, loadConfigFile } from './config/config-file.ts'
import { defaultUrl, type Place } from './config/opening.ts'
import { Policies } from './config/policies.ts'
import { settingsOf } from './config/settings.ts'
import { Treadle } from './treadle.ts'

const policies = new Policies()

let configured: { readonly config: TreadleConfig; readonly folder: string } | undefined

/**
 * The instance for programs that need only one. On first use it opens the URL from `configure()`, else from TREADLE_URL, else
 * from the nearest `treadle.config.*`, else `sqlite:treadle.db`.
 */
export const jobs: Treadle = new Treadle(place, { policies })

/** Configures the default instance. Throws if the instance is already in use. */
export function configure(config: TreadleConfig, folder: string = workingFolder()): void {
  if (isPlaced) {
    throw new TreadleError(
      'CONFIG_INVALID',
      'The default instance is already in use. Call configure() before the first dispatch.',
    )
  }
  configured = { config, folder }
  // Defaults apply to definitions immediately, before the queue opens.
  const { url: _url, jobs: _jobs, worker: _worker, ...options } = config
  policies.settle(settingsOf(options))
}

let isPlaced = false

async function place(): Promise<Place> {
  isPlaced = true
  if (configured !== undefined) {
    const { config, folder } = configured
    const { coordination } = config
    const place = placeOf(config, config.url ?? environmentVariable('TREADLE_URL'), folder)
    return coordination === undefined ? place : { ...place, options: { ...place.options, coordination } }
  }
  const path = findConfigFile(workingFolder())
  if (path === null) return placeOf({}, environmentVariable('TREADLE_URL'), workingFolder())
  const loaded = await loadConfigFile(path)
  if ('instance' in loaded) {
    const message = `${path} exports an instance of its own. Import that one instead of { jobs } from 'treadle'.`
    throw new TreadleError('CONFIG_INVALID', message)
  }
  const outerUrl = environmentVariable('TREADLE_URL')
  return placeOf(loaded.config, outerUrl ?? loaded.config.url, outerUrl === undefined ? loaded.folder : workingFolder())
}

function placeOf(config: TreadleConfig, said: string | undefined, folder: string): Place {
  const { url: _url, jobs: _jobs, worker: _worker, coordination: _coordination, ...options } = config
  const url = said ?? defaultUrlOf(options) ?? defaultUrl
  return { url, options: { ...options, ...coordinationAt(url, config) }, folder }
}
