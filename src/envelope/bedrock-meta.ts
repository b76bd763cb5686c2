import type { Json } from '../core/text/json.ts'
import type { Meta } from '../definition/meta.ts'

/** What the protocol knows about a job and the queue does not. It travels with the job, signed. */
export interface WireMeta {
  /** When it may be handed out again if it is not finished; empty means when its lease expires. */
  readonly retryAfter: string
  /** When it was last handed out before this time; null if never. */
  readonly lastRun: number | null
  /** For a child that is held back until its parent waits for it: when it is to run then. */
  readonly heldUntil: number | null
  /** The job that waits for it. */
  readonly parent: string | null
  /** Whether it has waited for children, and is handed out again with their results. */
  readonly hasWaited: boolean
  /** Whether its data was changed after it had finished, and therefore counts instead of its result. */
  readonly isDataNewer: boolean
}

export const plainWireMeta: WireMeta = Object.freeze({
  retryAfter: '',
  lastRun: null,
  heldUntil: null,
  parent: null,
  hasWaited: false,
  isDataNewer: false,
})

/** The member of `meta` that holds it. Only servers that speak the protocol write it. */
export const wireMember = 'bedrock'

/** The largest valid date, in milliseconds since 1970. */
const farthestDate = 8.64e15

export function wireMetaOf(meta: Meta): WireMeta {
  const given = meta[wireMember]
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return plainWireMeta
  const { retryAfter, lastRun, heldUntil, parent, hasWaited, isDataNewer } = given as Readonly<Record<string, Json>>
  return {
    retryAfter: typeof retryAfter === 'string' ? retryAfter : '',
    lastRun: instantOf(lastRun),
    heldUntil: instantOf(heldUntil),
    parent: typeof parent === 'string' ? parent : null,
    hasWaited: hasWaited === true,
    isDataNewer: isDataNewer === true,
  }
}

/** Anyone may have dispatched the job, so an invalid instant counts as absent. */
function instantOf(value: Json | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && Math.abs(value) <= farthestDate ? value : null
}

/** Writes only members that differ from the default. */
export function withWireMeta(meta: Meta, wire: WireMeta): Meta {
  const { retryAfter, lastRun, heldUntil, parent, hasWaited, isDataNewer } = wire
  const written = {
    ...(retryAfter !== '' && { retryAfter }),
    ...(lastRun !== null && { lastRun }),
    ...(heldUntil !== null && { heldUntil }),
    ...(parent !== null && { parent }),
    ...(hasWaited && { hasWaited }),
    ...(isDataNewer && { isDataNewer }),
  }
  const { [wireMember]: _, ...others } = meta
  return Object.keys(written).length === 0 ? others : { ...others, [wireMember]: written }
}
