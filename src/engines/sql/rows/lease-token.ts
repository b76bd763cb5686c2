/**
 * The secret that the owner of a lease holds. It names the job and its lane, so that settling needs no lookup, and the claim, so
 * that a later owner of the same job has a different token.
 */
export interface Token {
  readonly id: string
  readonly lane: number
  readonly claim: string
}

/** `held` is what the job's row says about its lease. */
export function writeToken(id: string, lane: number, held: string): string {
  const dot = held.indexOf('.')
  return dot < 0 ? `${id}.${lane}.${held}` : `${id}.${held.slice(dot + 1)}.${held.slice(0, dot)}`
}

/**
 * What the row of a running job says about its lease after the job was moved to another lane: the claim, and the lane named in
 * the token that was handed out.
 */
export function movedFrom(lane: number, held: string): string {
  return held.includes('.') ? held : `${held}.${lane}`
}

/** The two values that the row of a job with this lease may have. */
export function heldAs({ lane, claim }: Token): readonly string[] {
  return [claim, movedFrom(lane, claim)]
}

/** The claim in a row's value, without the lane. */
export function claimOf(held: string | null): string | null {
  return held === null ? null : (held.split('.')[0] as string)
}

export function readToken(text: string): Token | undefined {
  const [, id, lane, claim] = shape.exec(text) ?? []
  if (id === undefined || lane === undefined || claim === undefined) return undefined
  const number = Number(lane)
  return Number.isSafeInteger(number) ? { id, lane: number, claim } : undefined
}

const uuidText = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const uuid = new RegExp(`^${uuidText}$`)
/** An id, a lane, and a claim: a random token, whose text goes into statements unquoted. */
const shape = new RegExp(`^(${uuidText})\\.([^.]*)\\.([\\w-]{22})$`)

/** Engines reject any other text as an id, and no job has one. */
export function isJobId(text: string): boolean {
  return uuid.test(text)
}
