import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const memory = '/dev/shm'
const neededBytes = 4 * 1024 ** 3
const prefix = 'treadle-tests-'
const dayMs = 86_400_000

/**
 * Puts the temporary folder of all test files, and of what they start, into memory where there is enough of it: a database waits
 * for the disk at each commit, and none of a test is to outlive the machine.
 */
export function setup(): void {
  const folder = folderInMemory()
  if (folder === null) return
  process.env.TMPDIR = folder
  process.once('exit', () => remove(folder))
}

function folderInMemory(): string | null {
  let folder: string | null = null
  try {
    const { bavail, bsize } = statfsSync(memory)
    if (bavail * bsize < neededBytes) return null
    removeLeftFolders()
    folder = mkdtempSync(join(memory, prefix))
    // As every temporary folder: servers run as users of their own.
    chmodSync(folder, 0o1777)
    refuseWithoutPrograms(folder)
    return folder
  } catch {
    remove(folder)
    return null
  }
}

/** A run that was killed could not remove its own. One that is under way makes folders in it all the time. */
function removeLeftFolders(): void {
  const folders = readdirSync(memory).filter((name) => name.startsWith(prefix))
  for (const path of folders.map((name) => join(memory, name))) {
    if (statSync(path).mtimeMs < Date.now() - dayMs) remove(path)
  }
}

/** Some systems run no programs from there, and tests write programs. */
function refuseWithoutPrograms(folder: string): void {
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  accessSync(program, constants.X_OK)
}

function remove(folder: string | null): void {
  if (folder !== null) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
