import { frozenCopy } from '../core/frozen.ts'
import type { Json } from '../core/json.ts'

/** What the signature vouches for, beside the payload. Nothing in it changes during the life of a job. */
export interface Identity {
  readonly id: string
  readonly job: string
  /** What people read in lists and logs; the job's key unless the definition names it. */
  readonly name: string
  readonly queue: string
  readonly priority: number
  readonly maxRetries: number
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
}

export const envelopeVersion = 1

/** The identity that a text holds, or undefined when it holds none. */
export function parseIdentity(text: string): Identity | undefined {
  const fields = parseArray(text)
  const [version, id] = fields ?? []
  if (fields === undefined || version !== envelopeVersion || typeof id !== 'string') return undefined
  const common = commonOf(fields.slice(2))
  return common === undefined ? undefined : { id, ...common }
}

/** As `parseIdentity`, of one that is expected to have this id: what follows the id was most often read a moment ago. */
export function identityOf(id: string, text: string): Identity | undefined {
  const start = identityStart(id)
  if (!text.startsWith(start)) return parseIdentity(text)
  const end = text.slice(start.length)
  if (lastRead?.end === end) return { id, ...lastRead.common }
  const common = commonOf(parseArray(`[${end}`) ?? [])
  if (common === undefined) return undefined
  if (!hasMembers(common.meta)) lastRead = { end, common }
  return { id, ...common }
}

const noMeta: Identity['meta'] = Object.freeze({})

let lastRead: { readonly end: string; readonly common: Omit<Identity, 'id'> } | undefined

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
    typeof maxRetries === 'number' &&
    (timeoutMs === null || typeof timeoutMs === 'number') &&
    typeof singleInstance === 'boolean' &&
    (idempotencyKey === null || typeof idempotencyKey === 'string') &&
    (meta === null || (typeof meta === 'object' && !Array.isArray(meta)))
  if (!sound) return undefined
  // Handlers see it, and it is sealed again with what repeats: nobody must change it in between.
  const parsedMeta = meta === null ? noMeta : frozenCopy(meta as Identity['meta'])
  return { job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta: parsedMeta, ...ending }
}

/** What only some identities end with: nothing, an occurrence, a repeat behind an occurrence, or that it is encrypted behind both. */
function endingOf(fields: readonly unknown[]): Pick<Identity, 'occurrence' | 'repeat' | 'encrypted'> | undefined {
  const [occurrence = null, repeat = null, encrypted] = fields
  const isKnown = fields.length <= 3 && (fields.length < 3 || encrypted === true)
  // Each has one spelling: nothing is written that says nothing.
  const isShortest = fields.length === 0 || fields.length === 3 || fields.at(-1) !== null
  if (!isKnown || !isShortest || !(repeat === null || typeof repeat === 'string')) return undefined
  if (occurrence !== null && !isInstant(occurrence)) return undefined
  return { occurrence, repeat, ...(encrypted === true && { encrypted }) }
}

/**
 * The deterministic form: an array in fixed order, of which this is all that follows the id. An empty `meta` travels as null, an
 * `occurrence` only where there is one or where something follows it, and so with a `repeat` and with `encrypted`.
 */
export function identityTail(identity: Omit<Identity, 'id'>): string {
  const { job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta } = identity
  const travellingMeta = hasMembers(meta) ? meta : null
  const rest = [job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, travellingMeta]
  return JSON.stringify([...rest, ...endingFields(identity)]).slice(1)
}

function endingFields({
  occurrence,
  repeat,
  encrypted,
}: Pick<Identity, 'occurrence' | 'repeat' | 'encrypted'>): readonly unknown[] {
  if (encrypted) return [occurrence, repeat, true]
  return repeat !== null ? [occurrence, repeat] : occurrence !== null ? [occurrence] : []
}

/** All of an identity up to what its stamp says. */
export function identityStart(id: string): string {
  return `[${envelopeVersion},${JSON.stringify(id)},`
}

function hasMembers(meta: object): boolean {
  for (const _ in meta) return true
  return false
}

const latestInstantMs = 8.64e15

export function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= latestInstantMs
}

function parseArray(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
