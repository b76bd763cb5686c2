import { TreadleError } from '../../../core/errors.ts'
import { refuseUnknownOptions, suggestion } from '../../../core/options.ts'
import { fitsPattern, isAmong } from '../../../core/text/name-pattern.ts'
import { shown } from '../../../core/text/shown.ts'
import { type EventDetail, eventDetailNames } from '../../../execution/event-details.ts'
import { eventNames } from '../../../execution/events.ts'

/** Which events are meant. Each part that is given must fit; one that speaks of jobs leaves out events of workers and schedules. */
export interface EventFilter {
  /** Names of events, or patterns such as `job:*`. */
  readonly types?: string | readonly string[]
  /** Keys of jobs, or patterns such as `mail-*`. */
  readonly job?: string | readonly string[]
  readonly queue?: string | readonly string[]
  /** Jobs that have one of these tags. */
  readonly tag?: string | readonly string[]
  /** Ids of jobs. */
  readonly id?: string | readonly string[]
}

/** What a listener wants, as other processes are told it; null is everything. */
export interface WantedEvents {
  readonly types: readonly string[] | null
  readonly jobs: readonly string[] | null
  readonly queues: readonly string[] | null
  readonly tags: readonly string[] | null
  readonly ids: readonly string[] | null
  readonly include: readonly EventDetail[]
}

/** Of an event, as far as it matters who wants it. */
export interface FilteredEvent {
  readonly type: string
  readonly id?: unknown
  readonly job?: unknown
  readonly queue?: unknown
  readonly tags?: readonly string[]
}

/** More filters than this, and all events are recorded: to ask them all would cost more. */
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

/** `include` of those who listen, checked. */
export function detailNames(include: unknown, what: string): readonly EventDetail[] {
  if (include === undefined) return []
  const isKnown = (each: unknown): each is EventDetail => eventDetailNames.some((name) => name === each)
  if (Array.isArray(include) && include.every(isKnown)) return include
  const message = `${what}: include must be a list of ${eventDetailNames.join(', ')}, got ${shown(include)}`
  throw new TreadleError('CONFIG_INVALID', message)
}

/** The options of `on`, checked. */
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

/** Many listeners are told as one that wants everything that any of them wants to know of an event. */
export function together(all: readonly WantedEvents[]): readonly WantedEvents[] {
  const distinct = [...new Map(all.map((each) => [JSON.stringify(each), each])).values()]
  if (distinct.length <= mostFilters) return distinct
  const include = [...new Set(distinct.flatMap((each) => each.include))]
  return [{ types: null, jobs: null, queues: null, tags: null, ids: null, include }]
}

/** What listeners have written; what cannot be read is left out. */
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
  throw new TreadleError('CONFIG_INVALID', `events: ${what} must be a text, or up to ${mostNames} of them, got ${shown(given)}`)
}

function refuseUnknownType(type: string): void {
  if (eventNames.some((name) => fitsPattern(type, name))) return
  throw new TreadleError('CONFIG_INVALID', `There is no event ${shown(type)} to listen to${suggestion(type, eventNames)}`)
}
