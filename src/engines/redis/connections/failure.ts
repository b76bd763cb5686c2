import { messageOf, TreadleError } from '../../../core/errors.ts'
import { isDenied, isReply } from './connection.ts'

/** Replies of a server that cannot accept writes now, or is not the one to accept them. */
const unavailable = [
  ...['LOADING', 'READONLY', 'CLUSTERDOWN', 'MASTERDOWN', 'TRYAGAIN', 'MOVED', 'ASK'],
  ...['NOREPLICAS', 'BUSY', 'UNBLOCKED', 'MISCONF'],
]

/** What a failed call means. `place` is where the server is. */
export function failureOf(thrown: unknown, place: string): TreadleError {
  const cause = { cause: thrown }
  // Where in a script a command failed tells a user nothing.
  const text = `Redis at ${place}: ${messageOf(thrown).replace(/ script: [0-9a-f]{40}.*$/s, '')}`
  if (isDenied(thrown)) return new TreadleError('DATABASE_DENIED', text, cause)
  const code = codeOf(thrown)
  if (code === 'OOM') {
    const full = `Redis at ${place} takes no more jobs because its memory is full (maxmemory)`
    const advice = 'Workers continue. Give it more memory, or keep finished jobs for a shorter time'
    return new TreadleError('DATABASE_UNWRITABLE', `${full}. ${advice}`, cause)
  }
  if (code === 'READONLY') {
    const message = `Redis at ${place} is a replica and takes no writes. Name the primary in the URL`
    return new TreadleError('DATABASE_UNREACHABLE', message, cause)
  }
  const [, missing] = /\bunknown command [`'](\w+)/i.exec(messageOf(thrown)) ?? []
  if (missing !== undefined) return missingCommands([missing], place, cause)
  if (code === 'WRONGTYPE') {
    const advice = 'Something else writes to the keys of this queue: give each a prefix of its own'
    return new TreadleError('DATABASE_FAILED', `${text}. ${advice}`, cause)
  }
  const isUnreachable = !isReply(thrown) || unavailable.includes(code)
  return new TreadleError(isUnreachable ? 'DATABASE_UNREACHABLE' : 'DATABASE_FAILED', text, cause)
}

/** The server has commands that its configuration has renamed or disabled. */
export function missingCommands(names: readonly string[], place: string, cause?: ErrorOptions): TreadleError {
  const message = `Redis at ${place} does not know ${names.join(', ')}, which the queue needs: see "rename-command" in its settings`
  return new TreadleError('CAPABILITY_MISSING', message, cause)
}

/** Whether the server has become a replica: another one is the primary now. */
export function isReadOnly(thrown: unknown): boolean {
  return codeOf(thrown) === 'READONLY'
}

/** Whether a key holds another type than a command expects. */
export function isWrongType(thrown: unknown): boolean {
  return thrown instanceof Error && codeOf(thrown) === 'WRONGTYPE'
}

/** The code of an error reply. Redis 6.2 puts that of a command inside a script behind the place in the script. */
function codeOf(thrown: unknown): string {
  const message = messageOf(thrown)
  return /@user_script: ?\d+: -([A-Z]+)\b/.exec(message)?.[1] ?? /^[A-Z]+\b/.exec(message)?.[0] ?? ''
}
