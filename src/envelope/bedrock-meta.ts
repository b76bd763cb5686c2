import type { Json } from '../core/json.ts'
import type { Meta } from '../definition/meta.ts'

/** What the protocol knows of a job and the queue does not. It travels with the job, signed. */
export interface WireMeta {
  /** When it may be handed out again if nobody has finished it; empty is when its lease runs out. */
  readonly retryAfter: string
  /** When it was last handed out before this time, or null. */
  readonly lastRun: number | null
  /** A child that is kept back until its parent waits for it: when it is to run then. */
  readonly heldUntil: number | null
  /** The job that waits for it. */
  readonly parent: string | null
  /** It has waited for children, and is handed out again with what became of them. */
  readonly hasWaited: boolean
}

export const plainWireMeta: WireMeta = Object.freeze({
  retryAfter: '',
  lastRun: null,
  heldUntil: null,
  parent: null,
  hasWaited: false,
})

const member = 'bedrock'

export function wireMetaOf(meta: Meta): WireMeta {
  const given = meta[member]
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return plainWireMeta
  const { retryAfter, lastRun, heldUntil, parent, hasWaited } = given as Readonly<Record<string, Json>>
  return {
    retryAfter: typeof retryAfter === 'string' ? retryAfter : '',
    lastRun: typeof lastRun === 'number' ? lastRun : null,
    heldUntil: typeof heldUntil === 'number' ? heldUntil : null,
    parent: typeof parent === 'string' ? parent : null,
    hasWaited: hasWaited === true,
  }
}

/** Only what says something is written. */
export function withWireMeta(meta: Meta, { retryAfter, lastRun, heldUntil, parent, hasWaited }: WireMeta): Meta {
  const written = {
    ...(retryAfter !== '' && { retryAfter }),
    ...(lastRun !== null && { lastRun }),
    ...(heldUntil !== null && { heldUntil }),
    ...(parent !== null && { parent }),
    ...(hasWaited && { hasWaited }),
  }
  const { [member]: _, ...others } = meta
  return Object.keys(written).length === 0 ? others : { ...others, [member]: written }
}
