import { lstatSync, readFileSync, realpathSync, type Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { environmentVariable, processUser } from '../core/environment.ts'
import { TreadleError } from '../core/errors.ts'

/** Whose files are run beside one's own and those of root: numbers of users with commas between them, or `*` for everybody's. */
export const trustVariable = 'TREADLE_TRUSTED_OWNERS'

/** Throws `FILE_UNTRUSTED` for a file that somebody else could have written: to run it is to give them one's own rights. */
export function refuseUntrusted(path: string): void {
  const problem = trustProblem(path)
  if (problem !== undefined) throw new TreadleError('FILE_UNTRUSTED', problem)
}

/**
 * Why a file must not be run, or undefined when it may. As ssh does with its own files: it belongs to this user or to root, nobody
 * else may write to it, and the same holds for every folder above it, of the path as it was given and of where that leads.
 */
export function trustProblem(path: string): string | undefined {
  const user = processUser()
  if (user === undefined) return undefined
  const trusted = trustedOwners(user)
  if (trusted === 'everybody') return undefined
  for (const each of chainOf(path)) {
    const problem = problemAt(each, trusted)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Whether everybody may make files there, as in the system's temporary folder. */
export function isShared(folder: string): boolean {
  return processUser() !== undefined && ((statOf(folder)?.mode ?? 0) & forEverybody) !== 0
}

const forEverybody = 0o002
const forGroup = 0o020
/** Who may write to the folder can remove only what is their own. */
const sticky = 0o1000
const root = 0

type Trusted = readonly number[] | 'everybody'

function trustedOwners(user: number): Trusted {
  const said = environmentVariable(trustVariable)
  if (said?.trim() === '*') return 'everybody'
  const named = (said ?? '').split(',').filter((each) => /^\s*\d+\s*$/.test(each))
  // As git does: who became root by sudo has used that right to run this.
  const caller = user === root ? environmentVariable('SUDO_UID') : undefined
  return [root, user, ...[...named, ...(caller === undefined ? [] : [caller])].map(Number)]
}

/** The file and the folders above it. Where there are links on the way, both ways. */
function chainOf(path: string): ReadonlySet<string> {
  const chain = new Set<string>()
  const given = resolve(path)
  for (const start of [given, realPath(given)]) {
    for (let at = start; ; at = dirname(at)) {
      chain.add(at)
      if (at === dirname(at)) break
    }
  }
  return chain
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // Whoever opens it says what is wrong with it.
    return path
  }
}

function problemAt(path: string, trusted: readonly number[]): string | undefined {
  const found = statOf(path)
  if (found === undefined) return undefined
  const what = `${path} belongs to another user (${found.uid})`
  if (!trusted.includes(found.uid)) return `${what}, who could have anything run. ${ownerAdvice(path, found.uid)}`
  // The rights of a link are those of what it leads to.
  if (found.isSymbolicLink() || (found.isDirectory() && (found.mode & sticky) !== 0)) return undefined
  if ((found.mode & forEverybody) !== 0) return writable(path, found, 'everybody')
  if ((found.mode & forGroup) !== 0 && !isPrivateGroup(found.gid, trusted)) return writable(path, found, `the group ${found.gid}`)
  return undefined
}

function ownerAdvice(path: string, owner: number): string {
  return `Where it is yours, run: chown ${processUser()} ${quoted(path)}. To trust that user: ${trustVariable}=${owner}`
}

function writable(path: string, { mode }: Stats, who: string): string {
  const rights = (mode & 0o7777).toString(8)
  return `${path} may be written to by ${who} (mode ${rights}), who could have anything run. Run: chmod go-w ${quoted(path)}`
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}

/** Many systems give each user a group of their own and let it write: whether others are in it is written in two files. */
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
