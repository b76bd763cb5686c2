import { secretMatcher } from '../secret.ts'

/** Whether the headers show the token: `token: …` or `Authorization: Bearer …`. Undefined where they show none at all. */
export type TokenGuard = (headers: ReadonlyMap<string, string>) => boolean | undefined

export function tokenGuard(token: string): TokenGuard {
  const isToken = secretMatcher(token)
  return (headers) => {
    const shown = headers.get('token') ?? bearer(headers.get('authorization'))
    return shown === undefined ? undefined : isToken(shown)
  }
}

function bearer(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : (/^Bearer +(.*)$/i.exec(authorization)?.[1] ?? '')
}
