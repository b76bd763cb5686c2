import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** What does the jobs of one name. */
export type WorkerFile =
  | { readonly kind: 'module'; readonly path: string }
  | { readonly kind: 'program'; readonly path: string }
  | { readonly kind: 'none'; readonly problem: string }

const extensions = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']

/**
 * The worker of a job: `mail/Welcome` is done by `mail/Welcome.ts` in the folder or, where there is none, by `Welcome.ts`; a file
 * without an extension is a program. A name comes from the network, so whatever it says, nothing outside of the folder is run.
 */
export async function findWorker(folder: string, name: string): Promise<WorkerFile> {
  const parts = name.split('/')
  const unfit = parts.find((part) => !fit.test(part))
  if (unfit !== undefined) return none(`the name ${JSON.stringify(name)} can not be the name of a file`)
  const root = await realpath(folder).catch(() => undefined)
  if (root === undefined) return none(`there is no folder ${folder}`)
  const places = parts.length === 1 ? [name] : [name, parts.at(-1) as string]
  for (const place of places) {
    const found = await workerAt(root, join(root, ...place.split('/')))
    if (found !== undefined) return found
  }
  return none(`there is no worker for it: neither a module ${name}.ts, .js, … nor a program ${name} in ${folder}`)
}

/**
 * No part may be hidden, empty, `.` or `..`, nor hold what a file system or a terminal takes for something else. What was installed
 * beside the workers is none of them.
 */
const fit = /^(?!\.|node_modules$)[^\\/:\p{Cc}]{1,255}$/iu

async function workerAt(root: string, path: string): Promise<WorkerFile | undefined> {
  for (const extension of [...extensions, '']) {
    const file = await fileAt(`${path}${extension}`)
    if (file === undefined) continue
    if (!file.startsWith(`${root}${sep}`)) return none(`its worker ${path}${extension} leads out of the folder ${root}`)
    if (extension !== '') return { kind: 'module', path: file }
    if (await isExecutable(file)) return { kind: 'program', path: file }
    return none(`its worker ${path} may not be executed; try: chmod +x ${path}`)
  }
  return undefined
}

/** Where the file really is. */
async function fileAt(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ? realpath(path) : undefined
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
