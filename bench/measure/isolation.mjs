// Empty handlers in the worker itself, in a warm thread or in a warm process, and what the first job waits for its isolate to start.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { treadle } from '../../dist/index.js'

const warmUp = 200

export async function measure({ place: folder, kind, count, concurrency }) {
  const jobs = treadle(`sqlite:${join(folder, 'treadle.db')}`)
  const job = defineEmpty(jobs, kind)
  await jobs.open()
  const ended = counter(jobs)
  let startedAt = 0
  const unlisten = jobs.on('job:started', () => {
    startedAt = performance.now()
    unlisten()
  })
  const working = jobs.work({ concurrency })
  await job.dispatch(0)
  await ended(1)
  const startMs = performance.now() - startedAt
  await jobs.dispatchMany(job, numbers(warmUp))
  await ended(1 + warmUp)
  const start = performance.now()
  await jobs.dispatchMany(job, numbers(count))
  await ended(1 + warmUp + count)
  const elapsedMs = performance.now() - start
  await jobs.close()
  await working
  return { rate: (count / elapsedMs) * 1000, startMs }
}

function defineEmpty(jobs, kind) {
  const job = jobs.define('empty', (_payload) => {})
  return kind === 'here' ? job : job.isolate(kind, { from: fileURLToPath(import.meta.url) })
}

/** Resolves when so many jobs have succeeded since the beginning. */
function counter(jobs) {
  let done = 0
  let look = () => {}
  jobs.on('job:succeeded', () => {
    done++
    look()
  })
  return (wanted) =>
    new Promise((resolve) => {
      look = () => {
        if (done >= wanted) resolve(undefined)
      }
      look()
    })
}

function numbers(count) {
  return Array.from({ length: count }, (_, number) => number)
}

// What an isolate finds when it loads this file.
defineEmpty(treadle('memory:'), 'here')
