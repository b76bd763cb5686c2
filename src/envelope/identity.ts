import { frozenCopy } from '../core/frozen.ts'
import type { Json } from '../core/text/json.ts'
import { type Recurrence, recurrenceFields, recurrenceOf } from '../definition/recurrence.ts'
import type { WaitMark } from './wait-mark.ts'

/** What the signature vouches for, beside the payload. Nothing in it changes during the life of a job. */
export interface Identity {
  readonly id: string
  readonly job: string
  /** What people read in lists and logs; the job's key unless the definition names it. */
  readonly name: string
  readonly queue: string
  readonly priority: number
  /** Null where nobody said it: whoever runs the job decides by its definition. So with `timeoutMs`, of which 0 is no limit. */
  readonly maxRetries: number | null
  readonly timeoutMs: number | null
  readonly singleInstance: boolean
  readonly idempotencyKey: string | null
  readonly meta: Readonly<Record<string, Json>>
  /** The instant (UTC milliseconds) that a scheduled run stands for; null where it was dispatched. */
  readonly occurrence: number | null
  /** When it is to be done again after it has been done, in the repeat language; null where it is done once. */
  readonly repeat: string | null
  /** Its payload travels encrypted. */
  readonly encrypted?: true
  /** It waits for other jobs. */
  readonly waitsFor?: WaitMark
  /** A digest of its unique key: what holds a key in the database is not signed. */
  readonly keyMark?: string
  /** A digest of the job that made it, and of what that one calls it. */
  readonly parentMark?: string
  /** The schedule that it is a run of, where that was made at run time. */
  readonly recurrence?: Recurrence
  /** Words that people find it by; absent where it has none. */
  readonly tags?: readonly string[]
}

export const envelopeVersion = 1

/** The identity that a text holds, or undefined when it holds none. */
export function parseIdentity(text: string): Identity | undefined {
  const fields = parseArray(text)
  const [version, id] = fields ?? []
  if (fields === undefined || version !== envelopeVersion || typeof id !== 'string') return undefined
  const common = commonOf(fields.slice(2))
  return common === undefined ? undefined : { ...common, id }
}

/** The tags that an identity's text says. Only one with tags ends with a list, so most texts are not parsed for it. */
export function tagsOf(text: string): readonly string[] {
  return hasTags(text) ? (parseIdentity(text)?.tags ?? []) : []
}

export function hasTags(text: string): boolean {
  return text.endsWith('"]]')
}

/** How often a job is tried again, where its dispatch said so; null where its worker's definition decides. */
export function saidRetries(text: string): number | null {
  return parseIdentity(text)?.maxRetries ?? null
}

/** As `parseIdentity`, of one that is expected to have this id: what follows the id was most often read a moment ago. */
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

/** Field by field where there are no others: V8 makes such objects alike, and reads them several times quicker than copies. */
function withId(id: string, { common, isPlain }: LastRead): Identity {
  if (!isPlain) return { ...common, id }
  const { job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta, occurrence, repeat } = common
  return { id, job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta, occurrence, repeat }
}

/** How many fields every identity has, beside its id. */
const plainFields = 11

const noMeta: Identity['meta'] = Object.freeze({})

interface LastRead {
  readonly end: string
  readonly common: Omit<Identity, 'id'>
  /** It has none of the fields that only some identities have. */
  readonly isPlain: boolean
}

let lastRead: LastRead | undefined

/** Of all fields that follow the id. */
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
  // Handlers see it, and it is sealed again with what repeats: nobody must change it in between.
  const parsedMeta = meta === null ? noMeta : frozenCopy(meta as Identity['meta'])
  return { job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta: parsedMeta, ...ending }
}

type Ending = Pick<Identity, 'occurrence' | 'repeat' | 'encrypted' | Mark>

type Mark = 'waitsFor' | 'keyMark' | 'parentMark' | 'recurrence' | 'tags'

/**
 * What only some identities end with: an occurrence, a repeat, that it is encrypted, that it waits, its unique key, its parent, its
 * schedule and its tags. Null stands for what is not there before the last.
 */
function endingOf(fields: readonly unknown[]): Ending | undefined {
  const [occurrence = null, repeat = null, encrypted = null, waitsFor = null, keyMark = null, parentMark = null] = fields
  const recurrence = recurrenceOrNull(fields[6])
  const tags = fields[7] ?? null
  // Each has one spelling: nothing is written that says nothing.
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
 * The deterministic form: an array in fixed order, of which this is all that follows the id. An empty `meta` travels as null, an
 * `occurrence` only where there is one or where something follows it, and so with a `repeat`, with `encrypted`, `waitsFor`, `keyMark`,
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

/** All runs of a schedule have the same: it is written once. */
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

/** All of an identity up to what its stamp says. Our own ids have nothing that JSON would escape. */
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

/** Undefined where it is none that there could be. */
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
