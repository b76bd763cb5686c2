import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const betweenMs = 5

/**
 * The processes whose parent this is, where the system tells it in /proc; none elsewhere.
 *
 * @param {number} parent
 */
export function childrenOf(parent) {
  return processIds().filter((pid) => statusOf(pid)?.parent === parent)
}

function processIds() {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

/**
 * Resolves when none of these processes runs any more. One that has ended counts as gone though nobody has asked how it ended.
 *
 * @param {readonly number[]} pids
 */
export async function gone(pids) {
  while (pids.some((pid) => (statusOf(pid)?.state ?? 'Z') !== 'Z')) await pause(betweenMs)
}

/** @param {number} pid */
function statusOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // "pid (program) state parent …", and the program's name may hold any character.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent) }
  } catch {
    return null
  }
}
