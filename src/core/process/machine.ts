import { cpus, loadavg } from 'node:os'
import { computedMs } from './process-time.ts'

/** How busy the machine and this process have been since the last measurement. */
export interface MachineUse {
  /** The fraction of all cores in use, from 0 to 1. */
  readonly cpu: number
  /** CPU use of this process, in cores: 1.5 is one and a half cores. */
  readonly processCpu: number
  /** Resident memory of this process. */
  readonly memoryBytes: number
}

/** The load average of the last minute. Always 0 on Windows. */
export function loadAverage(): number {
  return loadavg()[0] as number
}

export function coreCount(): number {
  return Math.max(1, cpus().length)
}

/** Returns a function; each call measures the time since the previous one. */
export function machineMeter(): () => MachineUse {
  let last = read()
  return () => {
    const now = read()
    const [busyMs, allMs, ownMs] = [now.busyMs - last.busyMs, now.allMs - last.allMs, now.ownMs - last.ownMs]
    last = now
    const wallMs = allMs / now.cores
    return {
      cpu: allMs > 0 ? busyMs / allMs : 0,
      processCpu: wallMs > 0 ? ownMs / wallMs : 0,
      memoryBytes: process.memoryUsage.rss(),
    }
  }
}

function read() {
  const cores = cpus()
  const idleMs = cores.reduce((sum, { times }) => sum + times.idle, 0)
  const allMs = cores.reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.idle + times.irq, 0)
  return { busyMs: allMs - idleMs, allMs, ownMs: computedMs(), cores: Math.max(1, cores.length) }
}
