import type { Treadle } from '../../app/treadle.ts'
import { ownMemoryBytes } from '../../core/process/environment.ts'
import { systemClock } from '../../core/time/clock.ts'
import { parseDuration } from '../../core/time/duration.ts'
import type { Output } from '../output/output.ts'

/** When a worker ends by itself, so that a supervisor starts a fresh one. */
export interface WorkBounds {
  readonly maxJobs?: number
  readonly maxMemory?: number
  readonly maxTime?: string
}

const memoryIntervalMs = 5_000

/** A signal that aborts once a bound is reached; prints which one. */
export function boundedWork(jobs: Treadle, out: Output, { maxJobs, maxMemory, maxTime }: WorkBounds): AbortSignal {
  const reached = new AbortController()
  const end = (why: string) => {
    if (reached.signal.aborted) return
    out.note(`stopping: ${why}; waiting for running jobs`)
    reached.abort()
  }
  if (maxJobs !== undefined) {
    let started = 0
    jobs.on('job:started', () => {
      if (++started >= maxJobs) end(`${started} jobs were started (--max-jobs)`)
    })
  }
  if (maxMemory !== undefined) watchMemory(maxMemory, end, reached.signal)
  if (maxTime !== undefined) {
    systemClock.timer(parseDuration(maxTime, 'max-time'), () => end(`it ran for ${maxTime} (--max-time)`), { unref: true })
  }
  return reached.signal
}

function watchMemory(most: number, end: (why: string) => void, reached: AbortSignal): void {
  const look = () => {
    if (ownMemoryBytes() > most) end('it uses more memory than --max-memory allows')
    if (!reached.aborted) systemClock.timer(memoryIntervalMs, look, { unref: true })
  }
  look()
}
