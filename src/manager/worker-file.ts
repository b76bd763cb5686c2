import { constants } from 'node:fs'
import { access, readdir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { trustProblem } from '../core/files/file-trust.ts'
import { glob } from '../core/text/glob.ts'

/** The file that runs the jobs of one name. */
export type WorkerFile =
  | { readonly kind: 'module'; readonly path: string }
  | { readonly kind: 'program'; readonly path: string }
  | { readonly kind: 'none'; readonly problem: string }

const extensions = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']

/**
 * Finds the worker for a job: `mail/Welcome` is run by `mail/Welcome.ts` in the folder or, if that does not exist and the pattern
 * admits it, by `Welcome.ts`. A file without an extension is a program. Anything after a `?` in the name is for the worker. The
 * name comes from the network, so nothing is run that is outside the folder, outside the pattern, or writable by others.
 */
export async function findWorker(folder: string, name: string, pattern: string): Promise<WorkerFile> {
  const [called = ''] = name.split('?')
  const parts = called.split('/')
  if (!parts.every(isFit)) return none(`the name ${JSON.stringify(name)} cannot be the name of a file`)
  const root = await realpath(folder).catch(() => undefined)
  if (root === undefined) return none(`there is no folder ${folder}`)
  const places = (parts.length === 1 ? [called] : [called, parts.at(-1) as string]).filter((place) => isAdmitted(place, pattern))
  if (places.length === 0) return none(`the name ${JSON.stringify(name)} is not one of ${pattern}`)
  for (const place of places) {
    const found = await workerAt(root, place.split('/'))
    if (found !== undefined) return found
  }
  return none(`there is no worker for it: neither a module ${called}.ts, .js, … nor a program ${called} in ${folder}`)
}

/** Same interpretation as on the server: one pattern, or several literal names. */
function isAdmitted(place: string, pattern: string): boolean {
  const names = pattern.split(',').map((each) => each.trim())
  return names.length > 1 ? names.includes(place) : glob(pattern)(place)
}

/**
 * No part may be hidden, empty, `.` or `..`, or contain characters that are special to a file system or a terminal. Installed
 * packages next to the workers are not workers, and neither are tests or declaration files.
 */
function isFit(part: string): boolean {
  return fit.test(part) && !unmeant.test(part)
}

const fit = /^(?!\.)[^\\/:\p{Cc}]{1,255}$/u
const unmeant = /^(?:node_modules|__tests__|__mocks__)$|\.(?:test|spec|d)(?:\.|$)/i

async function workerAt(root: string, parts: readonly string[]): Promise<WorkerFile | undefined> {
  const path = join(root, ...parts)
  for (const extension of [...extensions, '']) {
    const file = await fileAt(root, parts, extension)
    if (file === undefined) continue
    const where = `${path}${extension}`
    if (!file.startsWith(`${root}${sep}`)) return none(`its worker ${where} leads out of the folder ${root}`)
    if (!relative(root, file).split(sep).every(isFit))
      return none(`its worker ${where} leads to ${file}, which cannot be a worker`)
    const problem = trustProblem(where)
    if (problem !== undefined) return none(`its worker is not run: ${problem}`)
    if (extension !== '') return { kind: 'module', path: file }
    if (await isExecutable(file)) return { kind: 'program', path: file }
    return none(`its worker ${path} is not executable. Run: chmod +x ${path}`)
  }
  return undefined
}

/**
 * The real path of the file. Its name must be spelled as it is stored, because some file systems accept other spellings of the
 * same name.
 */
async function fileAt(root: string, parts: readonly string[], extension: string): Promise<string | undefined> {
  const path = `${join(root, ...parts)}${extension}`
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() !== true) return undefined
  let folder = root
  for (const [index, part] of parts.entries()) {
    const stored = index === parts.length - 1 ? `${part}${extension}` : part
    if (!(await readdir(folder)).includes(stored)) return undefined
    folder = join(folder, stored)
  }
  return realpath(path)
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

function none(problem: string): WorkerFile {
  return { kind: 'none', problem }
}
