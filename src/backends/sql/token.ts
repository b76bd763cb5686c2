/**
 * The secret that a lease's owner holds. It names the job and its lane, so that settling needs no look-up, and the claim, so that
 * a later owner of the same job has another one.
 */
export interface Token {
  readonly id: string
  readonly lane: number
  readonly claim: string
}

export function writeToken(id: string, lane: number, claim: string): string {
  return `${id}.${lane}.${claim}`
}

export function readToken(text: string): Token | undefined {
  const [id, lane, claim, ...rest] = text.split('.')
  if (id === undefined || lane === undefined || claim === undefined || rest.length > 0) return undefined
  if (!isJobId(id) || !madeHere.test(claim)) return undefined
  const number = Number(lane)
  return Number.isSafeInteger(number) ? { id, lane: number, claim } : undefined
}

/** A claim is a random token, and its text goes into statements unquoted. */
const madeHere = /^[\w-]{22}$/
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Engines refuse another text where an id belongs, and no job has one. */
export function isJobId(text: string): boolean {
  return uuid.test(text)
}
