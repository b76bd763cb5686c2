import { parentPort, workerData } from 'node:worker_threads'
import { TreadleError } from '../../core/errors.ts'
import { loadDriver } from './driver.ts'
import type { Engine, EngineOptions } from './engine.ts'
import { openEngine } from './open-engine.ts'
import { BeatWatch } from './stand-in.ts'
import { type ThreadAnswer, type ThreadCall, type ThreadError, type ThreadNotice, threadStarted } from './thread-client.ts'

/**
 * The database's own thread: commits wait for the disk and for other processes here, and never in the program's event loop.
 */
if (parentPort !== null) {
  const port = parentPort
  const opening = loadDriver().then((Driver) => openEngine(Driver, workerData as EngineOptions))
  // Reported by the first call, which awaits the same promise.
  opening.catch(() => {})
  port.postMessage(threadStarted)
  const standIns = new Map<number, BeatWatch>()
  port.on('message', (message: ThreadCall | ThreadNotice) => {
    if (!('method' in message)) return void opening.then((engine) => heed(message, engine, standIns)).catch(() => {})
    const call = message
    opening.then(
      (engine) => port.postMessage(answerOf(engine, call)),
      (thrown) => {
        port.postMessage({ id: call.id, error: errorOf(thrown), isLast: true } satisfies ThreadAnswer)
        // The thread ends, and the next call starts another one: what was wrong with the file may be mended by then.
        port.close()
      },
    )
  })
}

function heed(notice: ThreadNotice, engine: Engine, standIns: Map<number, BeatWatch>): void {
  if ('standIn' in notice) {
    standIns.set(notice.standIn.id, new BeatWatch(notice.standIn, engine))
  } else {
    standIns.get(notice.standDown)?.stop()
    standIns.delete(notice.standDown)
  }
}

function answerOf(engine: Engine, { id, method, args }: ThreadCall): ThreadAnswer {
  try {
    const work = engine[method] as (...args: readonly unknown[]) => unknown
    return { id, answer: work(...args) }
  } catch (thrown) {
    return { id, error: errorOf(thrown) }
  }
}

function errorOf(thrown: unknown): ThreadError {
  if (thrown instanceof TreadleError) return { code: thrown.code, message: thrown.message }
  const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  return { code: 'DATABASE_FAILED', message }
}
