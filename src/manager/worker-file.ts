import { constants } from 'node:fs'
import { access, readdir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { trustProblem } from '../core/files/file-trust.ts'
import { glob } from '../core/text/glob.ts'

/** What does the jobs of one name. */
export type WorkerFile =
  | { readonly kind: 'module'; readonly path: string }
  | { readonly kind: 'program'; readonly path: string }
  | { readonly kind: 'none'; readonly problem: string }

const extensions = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']

/**
 * The worker of a job: `mail/Welcome` is done by `mail/Welcome.ts` in the folder or, where there is none and the pattern admits it,
 * by `Welcome.ts`; a file without an extension is a program. What follows a `?` in the name is for the worker. A name comes from the
 * network, so whatever it says, nothing is run that is outside of the folder, of the pattern, or that others could have written.
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

/** As the server reads it: a pattern, or several names in which nothing is one. */
function isAdmitted(place: string, pattern: string): boolean {
  const names = pattern.split(',').map((each) => each.trim())
  return names.length > 1 ? names.includes(place) : glob(pattern)(place)
}

/**
 * No part may be hidden, empty, `.` or `..`, nor hold what a file system or a terminal takes for something else. What was installed
 * beside the workers is none of them, and neither are their tests and declarations.
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
    if (!relative(root, file).split(sep).every(isFit)) return none(`its worker ${where} leads to ${file}, which is none`)
    const problem = trustProblem(where)
    if (problem !== undefined) return none(`its worker is not run: ${problem}`)
    if (extension !== '') return { kind: 'module', path: file }
    if (await isExecutable(file)) return { kind: 'program', path: file }
    return none(`its worker ${path} may not be executed; try: chmod +x ${path}`)
  }
  return undefined
}

/** Where the file really is. Its name must be spelled as it is stored: some file systems take another spelling for the same. */
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
