import { isRole, type Role, roles } from '../../client/api/roles.ts'

/** The holder of the secret may do what the role allows, but only with jobs of these queues and names. */
export interface ServerToken {
  readonly role: Role
  readonly secret: string
  /** All queues if omitted. */
  readonly queues?: readonly string[]
  /** Names, or patterns of names such as `mail/*`; all names if omitted. */
  readonly jobs?: string | readonly string[]
}

const shortestSecret = 8
const longestSecret = 1_000
const mostTokens = 1_000
/** Characters that a header can carry unchanged. */
const showable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const names: readonly string[] = ['role', 'secret', 'queues', 'jobs']

/** Lists everything that is wrong with the tokens, without revealing a secret. */
export function tokenProblems(tokens: unknown): readonly string[] {
  if (!Array.isArray(tokens)) return ['tokens must be a list']
  if (tokens.length > mostTokens) return [`tokens must have at most ${mostTokens} entries`]
  const secrets = tokens.map((token: Partial<ServerToken> | null) => token?.secret).filter((secret) => secret !== undefined)
  return [
    ...tokens.flatMap((token: unknown, at) => problemsOf(token).map((problem) => `tokens[${at}] ${problem}`)),
    ...(new Set(secrets).size === secrets.length ? [] : ['two tokens have the same secret']),
  ]
}

function problemsOf(token: unknown): readonly string[] {
  if (typeof token !== 'object' || token === null) return ['must be an object']
  const { role, secret, queues, jobs } = token as Partial<ServerToken>
  const unknown = Object.keys(token).filter((name) => !names.includes(name))
  return [
    ...unknown.map((name) => `has an unknown member ${JSON.stringify(name)}`),
    ...(isRole(role) ? [] : [`must have a role, one of ${roles.join(', ')}`]),
    ...secretProblems(secret),
    ...(queues === undefined || isTexts(queues) ? [] : ['has queues that are not a list of names']),
    ...(jobs === undefined || typeof jobs === 'string' ? [] : isTexts(jobs) ? [] : ['has jobs that are not a list of patterns']),
    ...(jobs === '' ? ['has an empty pattern of jobs'] : []),
  ]
}

export function secretProblems(secret: unknown): readonly string[] {
  if (typeof secret !== 'string' || secret.length < shortestSecret)
    return [`must be a string of at least ${shortestSecret} characters`]
  if (secret.length > longestSecret) return [`must be a string of at most ${longestSecret} characters`]
  return showable.test(secret) ? [] : ['must be of ASCII characters, without spaces around them']
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string' && each !== '')
}
