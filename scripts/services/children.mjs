import { readdirSync, readFileSync } from 'node:fs'

/**
 * The processes whose parent this is, where the system tells it in /proc; none elsewhere.
 *
 * @param {number} parent
 */
export function childrenOf(parent) {
  return processIds().filter((pid) => parentOf(pid) === parent)
}

function processIds() {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

/** @param {number} pid */
function parentOf(pid) {
  try {
    // The name of the program stands in parentheses, and may hold any character.
    const [, , ppid] =
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .split(/\) (?=. \d)/)
        .at(-1)
        ?.split(' ') ?? []
    return Number(ppid)
  } catch {
    return null
  }
}
