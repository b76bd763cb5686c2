import { TreadleError } from '../core/errors.ts'
import { workingFolder } from '../core/process/environment.ts'
import { shown } from '../core/text/shown.ts'
import { type BackendPlaces, defaultUrlOf, withDefaultPlace } from './config/backend-place.ts'
import { unsetHint } from './config/config.ts'
import { defaultUrl } from './config/opening.ts'
import type { TreadleOptions } from './config/options.ts'
import { defaultBackend } from './config/other-backends.ts'
import { Treadle } from './instance.ts'

export type { TreadleOptions } from './config/options.ts'
export { type ListenOptions, Treadle } from './instance.ts'

/** Options that include an open backend. */
export type BackendOptions = TreadleOptions & Required<Pick<TreadleOptions, 'backend'>>

/** Options that include several named backends. */
export type BackendsOptions = TreadleOptions & Required<Pick<TreadleOptions, 'backends'>>

/** Creates an instance: a queue and the jobs of this program. The queue opens on first use. */
export function treadle(url?: string, options?: TreadleOptions): Treadle
/** Creates an instance that uses an open backend. */
export function treadle(options: BackendOptions): Treadle
/** Creates an instance with several backends. Jobs choose theirs by name. */
export function treadle(options: BackendsOptions): Treadle
export function treadle(...given: [place?: string | BackendOptions | BackendsOptions, options?: TreadleOptions]): Treadle {
  const [place, options = {}] = given
  const folder = workingFolder()
  if (given.length === 0) return new Treadle({ url: defaultUrl, options, folder })
  if (typeof place === 'string') return new Treadle({ url: place, options, folder })
  if (hasBackends(place)) return new Treadle({ url: defaultOf(place.backends), options: withDefaultPlace(place), folder })
  if (hasBackend(place)) return new Treadle({ url: defaultUrl, options: place, folder })
  const message = `A URL such as sqlite:jobs.db was expected, or { backend } or { backends }, got ${shown(place)}${unsetHint(place)}`
  throw new TreadleError('BACKEND_UNKNOWN', message)
}

function hasBackends(place: unknown): place is BackendsOptions {
  const { backends } = Object(place) as { backends?: unknown }
  return typeof backends === 'object' && backends !== null
}

function defaultOf(backends: BackendPlaces): string {
  const url = Object.hasOwn(backends, defaultBackend) ? defaultUrlOf({ backends }) : undefined
  if (typeof url === 'string') return url
  throw new TreadleError(
    'CONFIG_INVALID',
    "backends must name the default one: treadle({ backends: { default: 'sqlite:jobs.db', … } })",
  )
}

function hasBackend(place: unknown): place is BackendOptions {
  return typeof place === 'object' && place !== null && 'backend' in place && place.backend !== undefined
}
