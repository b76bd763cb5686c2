import {
  closeSync,
  constants,
  copyFileSync,
  fchownSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { randomToken } from '../id.ts'
import { processUser } from '../process/environment.ts'

/**
 * Creates a file that only its owner can read. It is complete and on disk before it appears under its name. Fails with EEXIST if
 * the file exists.
 */
export function createDurably(path: string, text: string): void {
  const draft = writeDraft(path, text)
  try {
    link(draft, path)
  } finally {
    unlinkSync(draft)
  }
  syncFolderOf(path)
}

/** Replaces the contents of a file atomically: readers see either the old text or the new one. It keeps its owner. */
export function replaceDurably(path: string, text: string): void {
  const draft = writeDraft(path, text, statSync(path))
  try {
    renameSync(draft, path)
  } catch (thrown) {
    unlinkSync(draft)
    throw thrown
  }
  syncFolderOf(path)
}

/** Runs `act` while no other program that asks for the same lock does; null if one does. A program that is killed leaves its lock. */
export function withLock<Result>(lock: string, act: () => Result): Result | null {
  try {
    closeSync(openSync(lock, 'wx', 0o600))
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return null
    throw thrown
  }
  try {
    return act()
  } finally {
    unlinkSync(lock)
  }
}

/** The name of a file survives a power failure only if its folder was synced. */
export function syncFolderOf(path: string): void {
  let folder: number
  try {
    folder = openSync(dirname(path), constants.O_RDONLY)
  } catch {
    // Windows cannot open folders, and some folders may be used but not read.
    return
  }
  try {
    sync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Some file systems do not support sync, and report so; failures of the disk are thrown. */
export function sync(descriptor: number): void {
  try {
    fsyncSync(descriptor)
  } catch (thrown) {
    if (!unsyncable.has((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown
  }
}

const unsyncable = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EROFS', 'EPERM', 'EBADF'])

function writeDraft(path: string, text: string, owner?: Stats): string {
  const draft = `${path}.${randomToken()}`
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    // Root may replace the file of a user, whose programs must still be able to read it.
    if (owner !== undefined && owner.uid !== processUser()) fchownSync(descriptor, owner.uid, owner.gid)
    writeFileSync(descriptor, text)
    sync(descriptor)
  } catch (thrown) {
    unlinkSync(draft)
    throw thrown
  } finally {
    closeSync(descriptor)
  }
  return draft
}

/** Some file systems have no hard links. There, another program may briefly see an incomplete file. */
function link(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') throw thrown
    copyFileSync(draft, path, constants.COPYFILE_EXCL)
  }
}
