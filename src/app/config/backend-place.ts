import { environmentVariable } from '../../core/process/environment.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import { coordinationProblem, isBroker } from './schemes.ts'

/** Where workers of a broker share what the broker cannot keep: a URL, or an open backend. */
export type CoordinationPlace = string | QueueBackend

/** One of several backends. */
export interface BackendPlace {
  readonly url: string
  /** The coordination store of a broker. */
  readonly coordination?: CoordinationPlace
}

export type BackendPlaces = Readonly<Record<string, string | BackendPlace>>

/** What a place is said by: the config, and whatever goes before it. */
interface Placed {
  readonly url?: string
  readonly backend?: QueueBackend
  readonly backends?: BackendPlaces
  readonly coordination?: CoordinationPlace
}

export function placeOfBackend(place: string | BackendPlace): BackendPlace {
  return typeof place === 'string' ? { url: place } : place
}

/** The options of the default backend: where several are named, its coordination store may stand with its URL. */
export function withDefaultPlace<Options extends Placed>(options: Options): Options {
  const { default: named } = options.backends ?? {}
  if (named === undefined || options.coordination !== undefined) return options
  const { coordination } = placeOfBackend(named)
  return coordination === undefined ? options : { ...options, coordination }
}

/** The URL of the default one of several, where there are several. */
export function defaultUrlOf({ backends }: Placed): string | undefined {
  return backends?.default === undefined ? undefined : placeOfBackend(backends.default).url
}

/**
 * The coordination store of the queue at this URL. The environment goes before the config, and both before nothing but a broker: where
 * TREADLE_URL names a database in its place, as for tests, there is no need of one.
 */
export function coordinationAt(url: string, config: Placed): { readonly coordination?: CoordinationPlace } {
  const isOwn = config.backend !== undefined || url === (config.url ?? defaultUrlOf(config))
  const said = isBroker(url) ? environmentVariable('TREADLE_COORDINATION') : undefined
  const coordination = said ?? (isOwn || isBroker(url) ? withDefaultPlace(config).coordination : undefined)
  return coordination === undefined ? {} : { coordination }
}

/** What is wrong with where several backends are said to be. */
export function placeProblems(place: unknown, name: string): readonly string[] {
  if (typeof place === 'string') return place === '' ? [`${name} must be a URL`] : []
  const { url, coordination, ...others } = Object(place) as Readonly<Record<string, unknown>>
  if (typeof url !== 'string' || url === '') return [`${name} must be a URL, or { url, coordination }`]
  const unknown = Object.keys(others)
  return [
    ...(unknown.length === 0 ? [] : [`${name} has unknown members: ${unknown.join(', ')}; known: url, coordination`]),
    ...coordinationProblems(coordination, `${name}.coordination`),
  ]
}

export function coordinationProblems(place: unknown, name = 'coordination'): readonly string[] {
  if (place === undefined) return []
  const { kind } = Object(place) as { kind?: unknown }
  const problem = typeof place === 'string' ? coordinationProblem(place) : typeof kind === 'string' ? undefined : 'wrong'
  if (problem === undefined) return []
  const expected = `${name} must be the URL of a database, such as sqlite:coordination.db, or an open backend`
  return [problem === 'wrong' ? expected : `${expected}: ${problem}`]
}
