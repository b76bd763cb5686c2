import { createHash, timingSafeEqual } from 'node:crypto'

/** Whether the headers show the token: `token: …` or `Authorization: Bearer …`. Undefined where they show none at all. */
export type TokenGuard = (headers: ReadonlyMap<string, string>) => boolean | undefined

export function tokenGuard(token: string): TokenGuard {
  const expected = digest(token)
  return (headers) => {
    const shown = headers.get('token') ?? bearer(headers.get('authorization'))
    // Digests have one length, so that the comparison takes the same time for every wrong token.
    return shown === undefined ? undefined : timingSafeEqual(digest(shown), expected)
  }
}

function bearer(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : (/^Bearer +(.*)$/i.exec(authorization)?.[1] ?? '')
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
