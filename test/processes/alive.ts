import { readFileSync } from 'node:fs'

/** Whether a process runs. One that has ended and was not collected by its parent yet does not, though its id still answers. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('Z') === false
  } catch {
    // Only Linux tells more.
    return process.platform !== 'linux'
  }
}
