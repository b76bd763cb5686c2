import { frozenCopy } from '../core/frozen.ts'
import type { Json } from '../core/json.ts'
import type { WaitMark } from './wait-mark.ts'

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
  /** It waits for other jobs. */
  readonly waitsFor?: WaitMark
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

type Ending = Pick<Identity, 'occurrence' | 'repeat' | 'encrypted' | 'waitsFor'>

/** What only some identities end with: an occurrence, a repeat, that it is encrypted, and that it waits. Null stands for what is not there before the last. */
function endingOf(fields: readonly unknown[]): Ending | undefined {
  const [occurrence = null, repeat = null, encrypted = null, waitsFor = null] = fields
  // Each has one spelling: nothing is written that says nothing.
  const isKnown = fields.length <= 4 && fields.at(-1) !== null
  if (!isKnown || !(repeat === null || typeof repeat === 'string') || !(encrypted === null || encrypted === true))
    return undefined
  if (occurrence !== null && !isInstant(occurrence)) return undefined
  if (!(waitsFor === null || waitsFor === true || typeof waitsFor === 'string')) return undefined
  return { occurrence, repeat, ...(encrypted && { encrypted }), ...(waitsFor !== null && { waitsFor }) }
}

/**
 * The deterministic form: an array in fixed order, of which this is all that follows the id. An empty `meta` travels as null, an
 * `occurrence` only where there is one or where something follows it, and so with a `repeat`, with
 * `encrypted` and with `waitsFor`.
 */
export function identityTail(identity: Omit<Identity, 'id'>): string {
  const { job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta } = identity
  const travellingMeta = hasMembers(meta) ? meta : null
  const rest = [job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, travellingMeta]
  return JSON.stringify([...rest, ...endingFields(identity)]).slice(1)
}

function endingFields({ occurrence, repeat, encrypted, waitsFor }: Ending): readonly unknown[] {
  if (waitsFor !== undefined) return [occurrence, repeat, encrypted ?? null, waitsFor]
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
