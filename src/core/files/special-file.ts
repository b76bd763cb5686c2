import { type Stats, statSync } from 'node:fs'
import { TreadleError } from '../errors.ts'

/** Throws for a pipe, which would keep the program waiting for someone who writes to it, and for a folder or a device. */
export function refuseSpecialFile(path: string): void {
  const found = statOf(path)
  if (found === undefined || found.isFile()) return
  throw new TreadleError('CONFIG_INVALID', `${path} is ${kindOf(found)}, not a file`)
}

export function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder'
  return stats.isFIFO() ? 'a pipe' : stats.isSocket() ? 'a socket' : 'a device'
}

/** Undefined if there is nothing to see. What opens the path then reports why. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
