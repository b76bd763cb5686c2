import { environmentVariable } from '../../core/process/environment.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import { coordinationProblem, isBroker } from './schemes.ts'

/** Where the workers of a broker share the state that the broker cannot keep: a URL or an open backend. */
export type CoordinationPlace = string | QueueBackend

/** One of several named backends. */
export interface BackendPlace {
  readonly url: string
  /** The coordination store of a broker. */
  readonly coordination?: CoordinationPlace
}

export type BackendPlaces = Readonly<Record<string, string | BackendPlace>>

/** The parts of a config that determine where the queue is. */
interface Placed {
  readonly url?: string
  readonly backend?: QueueBackend
  readonly backends?: BackendPlaces
  readonly coordination?: CoordinationPlace
}

export function placeOfBackend(place: string | BackendPlace): BackendPlace {
  return typeof place === 'string' ? { url: place } : place
}

/** The options of the default backend. With several backends, its coordination store may be given next to its URL. */
export function withDefaultPlace<Options extends Placed>(options: Options): Options {
  const { default: named } = options.backends ?? {}
  if (named === undefined || options.coordination !== undefined) return options
  const { coordination } = placeOfBackend(named)
  return coordination === undefined ? options : { ...options, coordination }
}

/** URL of the default backend if several are configured. */
export function defaultUrlOf({ backends }: Placed): string | undefined {
  return backends?.default === undefined ? undefined : placeOfBackend(backends.default).url
}

/**
 * The coordination store for the queue at this URL. The environment variable takes precedence over the config. Both apply to
 * brokers only: if TREADLE_URL replaces the broker with a database, for example in tests, no store is needed.
 */
export function coordinationAt(url: string, config: Placed): { readonly coordination?: CoordinationPlace } {
  const isOwn = config.backend !== undefined || url === (config.url ?? defaultUrlOf(config))
  const said = isBroker(url) ? environmentVariable('TREADLE_COORDINATION') : undefined
  const coordination = said ?? (isOwn || isBroker(url) ? withDefaultPlace(config).coordination : undefined)
  return coordination === undefined ? {} : { coordination }
}

/** Problems with the entry of one of several backends. */
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
