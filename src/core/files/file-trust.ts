import { lstatSync, readFileSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { TreadleError } from '../errors.ts'
import { environmentVariable, processUser } from '../process/environment.ts'
import { refuseSpecialFile } from './special-file.ts'

/**
 * Whose files are trusted, in addition to one's own and root's: comma-separated user ids, groups as `group:ID`, or `*` for
 * everyone.
 */
const trustVariable = 'TREADLE_TRUSTED_OWNERS'

/** Throws `FILE_UNTRUSTED` for a file that another user could have written: running it would give them our privileges. */
export function refuseUntrusted(path: string): void {
  refuseSpecialFile(path)
  const problem = trustProblem(path)
  if (problem !== undefined) throw new TreadleError('FILE_UNTRUSTED', problem)
}

/**
 * Returns why a file must not be used, or undefined if it may. Like ssh, it requires that the file belongs to this user or to
 * root and that no one else can write to it, and the same for every folder above it and for every link on the way, with the
 * folders above that. In a folder with the sticky bit, others can create files but cannot replace those of another user.
 */
export function trustProblem(path: string, threat = 'who could make it run anything'): string | undefined {
  const user = processUser()
  if (user === undefined) return undefined
  const trusted = trustedOwners(user)
  if (trusted === 'everybody') return undefined
  for (const each of wayTo(path)) {
    const problem = problemAt(each, trusted, threat)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Like `trustProblem`, but checks only the file itself, and a link in its place, and not the folders above it. */
export function ownTrustProblem(path: string, threat: string): string | undefined {
  const user = processUser()
  if (user === undefined) return undefined
  const trusted = trustedOwners(user)
  if (trusted === 'everybody') return undefined
  // Whoever made a link decides which file is written to.
  return problemAt(path, trusted, threat) ?? targetProblem(path, trusted, threat)
}

function targetProblem(path: string, trusted: Trusted, threat: string): string | undefined {
  try {
    return problemAt(realpathSync(path), trusted, threat)
  } catch {
    // The file is missing, or opening it will report what is wrong.
    return undefined
  }
}

/** Whether files of that user are trusted like one's own. */
export function isTrustedOwner(owner: number, user: number): boolean {
  const trusted = trustedOwners(user)
  return trusted === 'everybody' || trusted.users.includes(owner)
}

/** Whether everyone can create files there, as in the system's temporary folder. */
export function isShared(folder: string): boolean {
  return processUser() !== undefined && ((statOf(folder)?.mode ?? 0) & forEverybody) !== 0
}

const forEverybody = 0o002
const forGroup = 0o020
/** Users who can write to the folder can remove only their own files. */
const sticky = 0o1000
const root = 0

interface Trusted {
  readonly users: readonly number[]
  /** Only a member can give a file to a group, so a file of a trusted group is trusted, no matter which user owns it. */
  readonly groups: readonly number[]
}

function trustedOwners(user: number): Trusted | 'everybody' {
  const said = environmentVariable(trustVariable) ?? ''
  if (said.trim() === '*') return 'everybody'
  const entries = said.split(',').map((each) => each.trim())
  const named = entries.filter((each) => /^\d+$/.test(each))
  const groups = entries.flatMap((each) => /^group:(\d+)$/.exec(each)?.[1] ?? [])
  // As in git: a user who became root with sudo has used that privilege to run this.
  const caller = user === root ? environmentVariable('SUDO_UID') : undefined
  const users = [root, user, ...[...named, ...(caller === undefined ? [] : [caller])].map(Number)]
  return { users, groups: groups.map(Number) }
}

/**
 * The file, the folders above it, and the targets of links with the folders above them. Goes part by part, as the system does when
 * it opens the path: `..` behind a link leads to the folder above its target.
 */
function wayTo(path: string): ReadonlySet<string> {
  const way = new Set<string>()
  let links = 0
  /** Adds what stands on the way, and returns where it leads. */
  const walk = (from: string, path: string): string => {
    let at = path.startsWith('/') ? '/' : from
    way.add(at)
    for (const part of path.split('/')) {
      if (part === '' || part === '.') continue
      at = part === '..' ? dirname(at) : step(at, join(at, part))
    }
    return at
  }
  const step = (from: string, place: string): string => {
    way.add(place)
    const target = statOf(place)?.isSymbolicLink() ? linkAt(place) : undefined
    return target === undefined || ++links > mostLinks ? place : walk(from, target)
  }
  walk(walk('/', resolve('.')), path)
  return way
}

/** Maximum number of links that Linux follows before it reports a loop. */
const mostLinks = 40

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    // Opening it will report what is wrong.
    return undefined
  }
}

function problemAt(path: string, trusted: Trusted, threat: string): string | undefined {
  const found = statOf(path)
  if (found === undefined) return undefined
  const what = `${path} belongs to another user (${found.uid})`
  // In a folder that everyone can write to, a file may have got its group from the folder.
  const isOfGroup = trusted.groups.includes(found.gid) && !isShared(dirname(path))
  if (!trusted.users.includes(found.uid) && !isOfGroup) return `${what}, ${threat}. ${ownerAdvice(path, found)}`
  // A link has the permissions of its target.
  if (found.isSymbolicLink() || (found.isDirectory() && (found.mode & sticky) !== 0)) return undefined
  if ((found.mode & forEverybody) !== 0) return writable(path, found, 'everybody', threat)
  const isForGroup =
    (found.mode & forGroup) !== 0 && !trusted.groups.includes(found.gid) && !isPrivateGroup(found.gid, trusted.users)
  if (isForGroup) return writable(path, found, `the group ${found.gid}`, threat)
  return undefined
}

export function ownerAdvice(path: string, found: Stats): string {
  const chown = found.isSymbolicLink() ? 'chown -h' : 'chown'
  return `If it is yours, run: ${chown} ${processUser()} ${quoted(path)}. To trust that user: ${trustVariable}=${found.uid}`
}

function writable(path: string, { mode, gid }: Stats, who: string, threat: string): string {
  const rights = (mode & 0o7777).toString(8)
  const trusting = (mode & forEverybody) === 0 ? `. To trust that group: ${trustVariable}=group:${gid}` : ''
  return `${path} may be written to by ${who} (mode ${rights}), ${threat}. Run: chmod go-w ${quoted(path)}${trusting}`
}

/** Quotes a path for the shell. */
export function quoted(path: string): string {
  return /^[\w./+@%:,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}

/** Many systems give each user a private group with write access; two system files tell whether others are in it. */
function isPrivateGroup(group: number, trusted: readonly number[]): boolean {
  try {
    const users = entriesOf('/etc/passwd').map(([name, , id, first]) => ({ name, id: Number(id), first: Number(first) }))
    const own = users.filter(({ id }) => trusted.includes(id)).map(({ name }) => name)
    const [, , , members] = entriesOf('/etc/group').find(([, , id]) => Number(id) === group) ?? []
    if (members === undefined) return false
    const named = members.split(',').filter((name) => name !== '')
    return named.every((name) => own.includes(name)) && users.every(({ id, first }) => first !== group || trusted.includes(id))
  } catch {
    return false
  }
}

function entriesOf(file: string): readonly (readonly string[])[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line.includes(':')).map((line) => line.split(':'))
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}
