import { parentPort, workerData } from 'node:worker_threads'
import { TreadleError } from '../../../core/errors.ts'
import { stopwatch } from '../../../core/time/clock.ts'
import { driverOf } from '../file/driver-choice.ts'
import type { Engine, LocalEngine } from './engine.ts'
import { openEngine } from './open-engine.ts'
import { BeatWatch } from './stand-in.ts'
import {
  type ThreadAnswer,
  type ThreadCall,
  type ThreadData,
  type ThreadError,
  type ThreadNotice,
  threadStarted,
  threadWaits,
} from './thread-client.ts'
import { ThreadGate } from './thread-gate.ts'

/** How often a call that waits for another process checks whether the program is exiting. */
const waitMs = 250
const retryPauseMs = 5
/** After this, people should be told what a call is waiting for. */
const longWaitMs = 3_000

/** The database thread: commits wait here for the disk and for other processes, never in the program's event loop. */
if (parentPort !== null) {
  const port = parentPort
  const data = workerData as ThreadData
  const gate = new ThreadGate(data.gate)
  const opening = opened(data, gate)
  // The first call reports it, because it awaits the same promise.
  opening.catch(() => {})
  port.postMessage(threadStarted)
  const standIns = new Map<number, BeatWatch>()
  port.on('message', (message: ThreadCall | ThreadNotice) => {
    if (!('method' in message)) return void opening.then((calls) => heed(message, calls, standIns)).catch(() => {})
    const call = message
    opening.then(
      (calls) => port.postMessage(answerOf(calls, call)),
      (thrown) => {
        port.postMessage({ id: call.id, error: errorOf(thrown), isLast: true } satisfies ThreadAnswer)
        // The thread ends, and the next call starts another one: the problem with the file may be fixed by then.
        port.close()
      },
    )
  })
}

/** Loading the driver runs native code too. */
async function opened(data: ThreadData, gate: ThreadGate): Promise<GatedEngine> {
  if (!gate.enter()) throw exiting()
  try {
    const engine = openEngine((await driverOf(data.driver)).Driver, data)
    engine.setPatience(waitMs)
    return new GatedEngine({ engine, gate, patienceMs: data.busyMs, onLongWait: () => parentPort?.postMessage(threadWaits) })
  } finally {
    gate.leave()
  }
}

interface GatedEngineParts {
  readonly engine: LocalEngine
  readonly gate: ThreadGate
  readonly patienceMs: number
  /** Called once for each call that waits long for another process. */
  readonly onLongWait: () => void
}

/** The engine, usable until the program exits. */
class GatedEngine {
  readonly #parts: GatedEngineParts

  constructor(parts: GatedEngineParts) {
    this.#parts = parts
  }

  call(method: ThreadCall['method'], args: ThreadCall['args']): unknown {
    const { engine, gate, patienceMs, onLongWait } = this.#parts
    const elapsedMs = stopwatch()
    const work = engine[method] as (...args: readonly unknown[]) => unknown
    let isTold = false
    for (;;) {
      if (!gate.enter()) throw exiting()
      try {
        return work.apply(engine, args as unknown[])
      } catch (thrown) {
        const isBusy = thrown instanceof TreadleError && thrown.code === 'DATABASE_BUSY'
        if (!isBusy || elapsedMs() > patienceMs) throw thrown
      } finally {
        gate.leave()
      }
      if (!isTold && elapsedMs() > longWaitMs) {
        isTold = true
        onLongWait()
      }
      gate.pause(retryPauseMs)
    }
  }
}

function exiting(): TreadleError {
  return new TreadleError('BACKEND_CLOSED', 'The program exits')
}

function heed(notice: ThreadNotice, calls: GatedEngine, standIns: Map<number, BeatWatch>): void {
  if ('standIn' in notice) {
    const keepLeases: Engine['keepLeases'] = (...args) => calls.call('keepLeases', args) as ReturnType<Engine['keepLeases']>
    standIns.set(notice.standIn.id, new BeatWatch(notice.standIn, { keepLeases }))
  } else {
    standIns.get(notice.standDown)?.stop()
    standIns.delete(notice.standDown)
  }
}

function answerOf(calls: GatedEngine, { id, method, args }: ThreadCall): ThreadAnswer {
  try {
    return { id, answer: calls.call(method, args) }
  } catch (thrown) {
    return { id, error: errorOf(thrown) }
  }
}

function errorOf(thrown: unknown): ThreadError {
  if (thrown instanceof TreadleError) return { code: thrown.code, message: thrown.message }
  const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  return { code: 'DATABASE_FAILED', message }
}
