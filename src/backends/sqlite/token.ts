/**
 * The secret that a lease's owner holds. It names the row and its lane, so that settling needs no look-up, and the claim, so
 * that a later owner of the same row has another one.
 */
export interface Token {
  readonly seq: number
  readonly lane: number
  readonly claim: string
}

export function writeToken(seq: number, lane: number, claim: string): string {
  return `${seq}.${lane}.${claim}`
}

export function readToken(text: string): Token | undefined {
  const first = text.indexOf('.')
  const second = text.indexOf('.', first + 1)
  if (first < 1 || second < 0) return undefined
  const seq = Number(text.slice(0, first))
  const lane = Number(text.slice(first + 1, second))
  if (!Number.isSafeInteger(seq) || !Number.isSafeInteger(lane)) return undefined
  return { seq, lane, claim: text.slice(second + 1) }
}
