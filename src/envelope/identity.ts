import { frozenCopy } from '../core/frozen.ts'
import type { Json } from '../core/text/json.ts'
import { type Recurrence, recurrenceFields, recurrenceOf } from '../definition/recurrence.ts'
import type { WaitMark } from './wait-mark.ts'

/** What the signature covers besides the payload. None of it changes during the life of a job. */
export interface Identity {
  readonly id: string
  readonly job: string
  /** The name shown in lists and logs; the job's key unless the definition names it. */
  readonly name: string
  readonly queue: string
  readonly priority: number
  /**
   * Null if not set: the definition of the worker that runs the job decides. The same applies to `timeoutMs`, where 0 means no
   * limit.
   */
  readonly maxRetries: number | null
  readonly timeoutMs: number | null
  readonly singleInstance: boolean
  readonly idempotencyKey: string | null
  readonly meta: Readonly<Record<string, Json>>
  /** The instant (UTC milliseconds) that a scheduled run stands for; null if it was dispatched. */
  readonly occurrence: number | null
  /** When to run it again after it is done, in the repeat language; null if it runs once. */
  readonly repeat: string | null
  /** Whether its payload is encrypted. */
  readonly encrypted?: true
  /** Set if it waits for other jobs. */
  readonly waitsFor?: WaitMark
  /** A digest of its unique key: the record that holds the key in the database is not signed. */
  readonly keyMark?: string
  /** A digest of its parent's id and of the key the parent gave it. */
  readonly parentMark?: string
  /** The schedule it is a run of, if that was created at run time. */
  readonly recurrence?: Recurrence
  /** Labels for finding the job; absent if it has none. */
  readonly tags?: readonly string[]
}

export const envelopeVersion = 1

/** Parses an identity; undefined if the text is not one. */
export function parseIdentity(text: string): Identity | undefined {
  const fields = parseArray(text)
  const [version, id] = fields ?? []
  if (fields === undefined || version !== envelopeVersion || typeof id !== 'string') return undefined
  const common = commonOf(fields.slice(2))
  return common === undefined ? undefined : { ...common, id }
}

/** The tags in an identity's text. Only an identity with tags ends with a list, so most texts need not be parsed. */
export function tagsOf(text: string): readonly string[] {
  return hasTags(text) ? (parseIdentity(text)?.tags ?? []) : []
}

export function hasTags(text: string): boolean {
  return text.endsWith('"]]')
}

/** How often to retry a job, if its dispatch set that; null if the worker's definition decides. */
export function saidRetries(text: string): number | null {
  return parseIdentity(text)?.maxRetries ?? null
}

/**
 * Like `parseIdentity`, for an identity expected to have this id. What follows the id is cached, as it is often the same again.
 */
export function identityOf(id: string, text: string): Identity | undefined {
  const start = identityStart(id)
  if (!text.startsWith(start)) return parseIdentity(text)
  const isReadAgain = lastRead !== undefined && text.length === start.length + lastRead.end.length && text.endsWith(lastRead.end)
  if (isReadAgain) return withId(id, lastRead as LastRead)
  const end = text.slice(start.length)
  const common = commonOf(parseArray(`[${end}`) ?? [])
  if (common === undefined) return undefined
  if (!hasMembers(common.meta)) lastRead = { end, common, isPlain: Object.keys(common).length === plainFields }
  return { ...common, id }
}

/** Copies field by field where possible: V8 gives such objects the same shape and reads them several times faster. */
function withId(id: string, { common, isPlain }: LastRead): Identity {
  if (!isPlain) return { ...common, id }
  const { job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta, occurrence, repeat } = common
  return { id, job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta, occurrence, repeat }
}

/** Number of fields that every identity has besides its id. */
const plainFields = 11

const noMeta: Identity['meta'] = Object.freeze({})

interface LastRead {
  readonly end: string
  readonly common: Omit<Identity, 'id'>
  /** Whether it has none of the optional fields. */
  readonly isPlain: boolean
}

let lastRead: LastRead | undefined

/** Parses all fields that follow the id. */
function commonOf(fields: readonly unknown[]): Omit<Identity, 'id'> | undefined {
  const ending = endingOf(fields.slice(9))
  if (ending === undefined) return undefined
  const [job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta] = fields
  const sound =
    typeof job === 'string' &&
    typeof name === 'string' &&
    typeof queue === 'string' &&
    typeof priority === 'number' &&
    (maxRetries === null || typeof maxRetries === 'number') &&
    (timeoutMs === null || typeof timeoutMs === 'number') &&
    typeof singleInstance === 'boolean' &&
    (idempotencyKey === null || typeof idempotencyKey === 'string') &&
    (meta === null || (typeof meta === 'object' && !Array.isArray(meta)))
  if (!sound) return undefined
  // Handlers see this object, and repeats seal it again, so it must not change in between.
  const parsedMeta = meta === null ? noMeta : frozenCopy(meta as Identity['meta'])
  return { job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta: parsedMeta, ...ending }
}

type Ending = Pick<Identity, 'occurrence' | 'repeat' | 'encrypted' | Mark>

type Mark = 'waitsFor' | 'keyMark' | 'parentMark' | 'recurrence' | 'tags'

/**
 * The optional end of an identity: occurrence, repeat, encryption, wait mark, unique key, parent, schedule and tags. Null stands
 * for a field that is absent before the last one.
 */
function endingOf(fields: readonly unknown[]): Ending | undefined {
  const [occurrence = null, repeat = null, encrypted = null, waitsFor = null, keyMark = null, parentMark = null] = fields
  const recurrence = recurrenceOrNull(fields[6])
  const tags = fields[7] ?? null
  // Every identity has exactly one spelling: trailing nulls are not allowed.
  const isKnown = fields.length <= 8 && fields.at(-1) !== null && recurrence !== undefined
  if (!isKnown || !(repeat === null || typeof repeat === 'string') || !(encrypted === null || encrypted === true))
    return undefined
  if (occurrence !== null && !isInstant(occurrence)) return undefined
  if (!(waitsFor === null || waitsFor === true || typeof waitsFor === 'string')) return undefined
  if (!isTextOrNull(keyMark) || !isTextOrNull(parentMark)) return undefined
  if (tags !== null && !(Array.isArray(tags) && tags.length > 0 && tags.every((tag) => typeof tag === 'string'))) return undefined
  const marks: Pick<Ending, Mark> = {
    ...(waitsFor !== null && { waitsFor: waitsFor as WaitMark }),
    ...(keyMark !== null && { keyMark }),
    ...(parentMark !== null && { parentMark }),
    ...(recurrence !== null && { recurrence }),
    ...(tags !== null && { tags: Object.freeze(tags as readonly string[]) }),
  }
  return { occurrence, repeat, ...(encrypted && { encrypted }), ...marks }
}

/**
 * The part of the deterministic form, an array in fixed order, that follows the id. An empty `meta` is written as null.
 * `occurrence` is written only if it is set or a later field follows, and so are `repeat`, `encrypted`, `waitsFor`, `keyMark`,
 * `parentMark`, `recurrence` and `tags`.
 */
export function identityTail(identity: Omit<Identity, 'id'>): string {
  const { job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta } = identity
  const travellingMeta = hasMembers(meta) ? meta : null
  const rest = [job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, travellingMeta]
  const { recurrence, tags = [] } = identity
  if (recurrence === undefined || tags.length > 0) return JSON.stringify([...rest, ...endingFields(identity)]).slice(1)
  const { occurrence, repeat, encrypted = null, waitsFor = null, keyMark = null, parentMark = null } = identity
  const fields = [...rest, occurrence, repeat, encrypted, waitsFor, keyMark, parentMark]
  return `${JSON.stringify(fields).slice(1, -1)},${recurrenceText(recurrence)}]`
}

const recurrenceTexts = new WeakMap<Recurrence, string>()

/** All runs of a schedule share the same recurrence, so its text is cached. */
function recurrenceText(recurrence: Recurrence): string {
  let text = recurrenceTexts.get(recurrence)
  if (text === undefined) {
    text = JSON.stringify(recurrenceFields(recurrence))
    recurrenceTexts.set(recurrence, text)
  }
  return text
}

function endingFields(ending: Ending): readonly unknown[] {
  const { occurrence, repeat, encrypted, waitsFor, keyMark, parentMark, recurrence, tags } = ending
  if (recurrence !== undefined || (tags !== undefined && tags.length > 0)) {
    const others = [occurrence, repeat, encrypted ?? null, waitsFor ?? null, keyMark ?? null, parentMark ?? null]
    const fields = [...others, recurrence === undefined ? null : recurrenceFields(recurrence)]
    return tags !== undefined && tags.length > 0 ? [...fields, tags] : fields
  }
  if (parentMark !== undefined) return [occurrence, repeat, encrypted ?? null, waitsFor ?? null, keyMark ?? null, parentMark]
  if (keyMark !== undefined) return [occurrence, repeat, encrypted ?? null, waitsFor ?? null, keyMark]
  if (waitsFor !== undefined) return [occurrence, repeat, encrypted ?? null, waitsFor]
  if (encrypted) return [occurrence, repeat, true]
  return repeat !== null ? [occurrence, repeat] : occurrence !== null ? [occurrence] : []
}

/** The start of an identity's text, up to the shared part. Treadle's own ids contain nothing that JSON would escape. */
export function identityStart(id: string): string {
  return isPlainId.test(id) ? `[${envelopeVersion},"${id}",` : `[${envelopeVersion},${JSON.stringify(id)},`
}

const isPlainId = /^[0-9A-Za-z_-]+$/

function hasMembers(meta: object): boolean {
  for (const _ in meta) return true
  return false
}

const latestInstantMs = 8.64e15

export function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= latestInstantMs
}

/** Undefined if the field is not a valid recurrence. */
function recurrenceOrNull(field: unknown): Recurrence | null | undefined {
  return field === undefined || field === null ? null : recurrenceOf(field)
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}

function parseArray(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
