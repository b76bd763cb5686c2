import { writtenReason } from '../../../core/text/reason.ts'
import { parseEncrypted } from '../../../envelope/encryption.ts'
import { identityOf, isInstant } from '../../../envelope/envelope.ts'
import type { KeyRing } from '../../../envelope/keys/key-ring.ts'
import { shownMessage } from '../../../envelope/stored-error.ts'
import { detailsOf, type EventDetail, type EventDetails, type EventSubject } from '../../../execution/event-details.ts'
import type { TreadleEvents } from '../../../execution/events.ts'

/** The part of an error that is sent to other processes. */
export interface ToldError {
  readonly message: string
  readonly code?: string
}

/** Properties of every event of the queue. */
export interface EventOrigin<Type extends string> {
  readonly type: Type
  /** Time of the event in UTC milliseconds. */
  readonly at: number
  /** Position among all events. Pass it as `after` to resume behind this event. */
  readonly position: string
  /** The host and process id where the event happened. */
  readonly process: string
}

/** Events before this one were lost, because there were too many for the reader or for the queue. */
export interface DroppedEvents extends EventOrigin<'dropped'> {
  /** Number of lost events; null if unknown, because for a while there was no listener. */
  readonly count: number | null
}

type Told<Event> = { readonly [Name in keyof Event]: Name extends 'error' ? ToldError : Event[Name] }

/** An event from any process of the queue. */
export type QueueEvent =
  | {
      readonly [Name in keyof TreadleEvents]: EventOrigin<Name> &
        Told<TreadleEvents[Name]> &
        (Name extends `job:${string}` ? EventDetails : unknown)
    }[keyof TreadleEvents]
  | DroppedEvents

/** An event in its stored form, as a JSON object. */
export interface TravellingEvent {
  readonly type: string
  readonly at: number
  readonly process: string
  readonly tags?: readonly string[]
  /** The parts of an encrypted job's event that must not be readable: see `secretParts`. */
  readonly secret?: string
}

export interface HappenedEvent {
  readonly type: keyof TreadleEvents
  readonly at: number
  readonly process: string
  readonly event: object
  readonly subject: EventSubject | undefined
}

/** Maximum length of an event. The large parts of a longer one are omitted. */
const largestEvent = 60_000

const secretParts = ['payload', 'result', 'error'] as const

/** The stored text of an event. For encrypted jobs, the parts that may contain payload data are encrypted as well. */
export function eventText(happened: HappenedEvent, include: ReadonlySet<EventDetail>): string {
  const { type, at, process, event, subject } = happened
  const told = { ...event, ...('error' in event && { error: toldError(event.error) }) }
  const details = subject === undefined || include.size === 0 ? {} : detailsOf(subject, include)
  const whole = { type, at, process, ...told, ...details }
  const text = textOf(whole, subject)
  if (text.length <= largestEvent) return text
  const { payload: _, result: __, meta: ___, ...rest } = whole as typeof whole & EventDetails
  const short = textOf({ ...rest, omitted: ['payload', 'result', 'meta'] }, subject)
  return short.length <= largestEvent ? short : textOf({ type, at, process, omitted: ['everything'] }, undefined)
}

/** Parses a stored event; null if it is invalid. Encrypted parts that cannot be decrypted here are left out. */
export function readEvent(text: unknown, position: string, keys: KeyRing | null): QueueEvent | null {
  if (typeof text !== 'object' || text === null) return null
  const { secret, ...told } = text as TravellingEvent & { readonly id?: string }
  if (typeof told.type !== 'string' || !isInstant(told.at)) return null
  const opened = typeof secret === 'string' ? openedSecret(secret, String(told.id), keys) : {}
  return { ...told, ...opened, position } as QueueEvent
}

/** Whether the event has encrypted parts. */
export function isSealed(text: unknown): boolean {
  return typeof text === 'object' && text !== null && 'secret' in text
}

function textOf(whole: Readonly<Record<string, unknown>>, subject: EventSubject | undefined): string {
  const identity = subject === undefined ? undefined : identityOf(subject.envelope.id, subject.envelope.identity)
  if (subject === undefined || identity?.encrypted !== true) return JSON.stringify(whole)
  const open = Object.entries(whole).filter(([name]) => !isSecret(name))
  const secret = Object.entries(whole).filter(([name]) => isSecret(name))
  if (secret.length === 0) return JSON.stringify(whole)
  return JSON.stringify({ ...Object.fromEntries(open), ...encrypted(Object.fromEntries(secret), identity, subject.keys) })
}

/** Parts that no key of this program may encrypt are left out. That there was an error, and nothing else of it, is told to all. */
function encrypted(
  secret: Readonly<Record<string, unknown>>,
  identity: { readonly id: string; readonly job: string; readonly queue: string },
  keys: KeyRing | null,
): { readonly secret?: string; readonly error?: ToldError } {
  try {
    if (keys !== null) {
      const text = keys.encrypt(JSON.stringify(secret), contextOf(identity.id), identity)
      return { secret: text, ...('error' in secret && { error: { message: shownMessage(text) } }) }
    }
  } catch {
    // Handled below.
  }
  return 'error' in secret ? { error: { message: 'encrypted' } } : {}
}

function openedSecret(secret: string, id: string, keys: KeyRing | null): object {
  try {
    const parsed = parseEncrypted(secret)
    if (parsed !== undefined && keys !== null) return JSON.parse(keys.decrypt(parsed, contextOf(id))) as object
  } catch {
    // The text was modified, or the key is not available here.
  }
  return {}
}

function isSecret(name: string): boolean {
  return secretParts.some((part) => part === name)
}

function toldError(error: unknown): ToldError {
  const { message, code } = writtenReason(error)
  return { message, ...(code !== undefined && { code }) }
}

function contextOf(id: string): string {
  return `event\n${id}`
}
