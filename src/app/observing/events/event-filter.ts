import { TreadleError } from '../../../core/errors.ts'
import { refuseUnknownOptions, suggestion } from '../../../core/options.ts'
import { fitsPattern, isAmong } from '../../../core/text/name-pattern.ts'
import { shown } from '../../../core/text/shown.ts'
import { type EventDetail, eventDetailNames } from '../../../execution/event-details.ts'
import { eventNames } from '../../../execution/events.ts'

/**
 * Selects events. An event must match every part that is given. A part that concerns jobs excludes events of workers and
 * schedules.
 */
export interface EventFilter {
  /** Event names, or patterns such as `job:*`. */
  readonly types?: string | readonly string[]
  /** Job keys, or patterns such as `mail-*`. */
  readonly job?: string | readonly string[]
  readonly queue?: string | readonly string[]
  /** Selects jobs that have at least one of these tags. */
  readonly tag?: string | readonly string[]
  /** Job ids. */
  readonly id?: string | readonly string[]
}

/** What a listener wants, in the form that is stored for other processes. Null means everything. */
export interface WantedEvents {
  readonly types: readonly string[] | null
  readonly jobs: readonly string[] | null
  readonly queues: readonly string[] | null
  readonly tags: readonly string[] | null
  readonly ids: readonly string[] | null
  readonly include: readonly EventDetail[]
}

/** The parts of an event that filters apply to. */
export interface FilteredEvent {
  readonly type: string
  readonly id?: unknown
  readonly job?: unknown
  readonly queue?: unknown
  readonly tags?: readonly string[]
}

/** Maximum number of filters. With more, all events are recorded, because evaluating the filters would cost more. */
const mostFilters = 20
const mostNames = 100

export function wantedEvents(filter: EventFilter, include: readonly EventDetail[]): WantedEvents {
  const types = namesOf(filter.types, 'types')
  for (const type of types ?? []) refuseUnknownType(type)
  const tags = namesOf(filter.tag, 'tag')
  return {
    types,
    jobs: namesOf(filter.job, 'job'),
    queues: namesOf(filter.queue, 'queue'),
    tags,
    ids: namesOf(filter.id, 'id'),
    include: tags === null || include.includes('tags') ? include : [...include, 'tags'],
  }
}

/** Validates the `include` of a listener. */
export function detailNames(include: unknown, what: string): readonly EventDetail[] {
  if (include === undefined) return []
  const isKnown = (each: unknown): each is EventDetail => eventDetailNames.some((name) => name === each)
  if (Array.isArray(include) && include.every(isKnown)) return include
  const message = `${what}: include must be a list of ${eventDetailNames.join(', ')}, got ${shown(include)}`
  throw new TreadleError('CONFIG_INVALID', message)
}

/** Validates the options of `on`. */
export function listenDetails(options: { readonly include?: unknown }): readonly EventDetail[] {
  refuseUnknownOptions(options, ['include'], 'on')
  return detailNames(options.include, 'on')
}

export function isWanted(wanted: WantedEvents, event: FilteredEvent): boolean {
  const { types, jobs, queues, tags, ids } = wanted
  return (
    isAmong(types, event.type) &&
    (jobs === null || (typeof event.job === 'string' && isAmong(jobs, event.job))) &&
    (queues === null || (typeof event.queue === 'string' && queues.includes(event.queue))) &&
    (ids === null || (typeof event.id === 'string' && ids.includes(event.id))) &&
    (tags === null || (event.tags?.some((tag) => tags.includes(tag)) ?? false))
  )
}

/** Combines filters. Above `mostFilters`, a single filter for everything replaces them. */
export function together(all: readonly WantedEvents[]): readonly WantedEvents[] {
  const distinct = [...new Map(all.map((each) => [JSON.stringify(each), each])).values()]
  if (distinct.length <= mostFilters) return distinct
  const include = [...new Set(distinct.flatMap((each) => each.include))]
  return [{ types: null, jobs: null, queues: null, tags: null, ids: null, include }]
}

/** Parses the filters that listeners stored. Invalid ones are left out. */
export function parseWanted(text: string): readonly WantedEvents[] {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed.filter(isWantedEvents) : []
  } catch {
    return []
  }
}

function isWantedEvents(value: unknown): value is WantedEvents {
  const { types, jobs, queues, tags, ids, include } = Object(value) as Readonly<Record<string, unknown>>
  const isNames = (names: unknown) => names === null || (Array.isArray(names) && names.every((each) => typeof each === 'string'))
  return [types, jobs, queues, tags, ids].every(isNames) && Array.isArray(include)
}

function namesOf(given: unknown, what: string): readonly string[] | null {
  if (given === undefined) return null
  const names: unknown = typeof given === 'string' ? [given] : given
  const isSound = Array.isArray(names) && names.length <= mostNames && names.every((name) => typeof name === 'string' && name)
  if (isSound) return names as readonly string[]
  throw new TreadleError('CONFIG_INVALID', `events: ${what} must be a string, or up to ${mostNames} of them, got ${shown(given)}`)
}

function refuseUnknownType(type: string): void {
  if (eventNames.some((name) => fitsPattern(type, name))) return
  throw new TreadleError('CONFIG_INVALID', `There is no event ${shown(type)} to listen to${suggestion(type, eventNames)}`)
}
