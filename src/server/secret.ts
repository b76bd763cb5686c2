import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares with a secret text, in the same time however much of a guess is right. */
export function secretMatcher(secret: string): (given: string) => boolean {
  const expected = digestOf(secret)
  return (given) => timingSafeEqual(digestOf(given), expected)
}

/** Digests have one length, whatever that of the guess is. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
