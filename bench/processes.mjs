// Child processes: each gets its arguments as JSON, and answers with one message.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * @param {string} module relative to this folder
 * @param {object} args
 */
export function startChild(module, args) {
  const path = fileURLToPath(new URL(module, import.meta.url))
  // What a contestant prints must not end up in the table, which may be read as JSON.
  const stdio = ['ignore', process.stderr, 'inherit', 'ipc']
  return fork(path, [JSON.stringify(args)], { execArgv: ['--expose-gc'], stdio })
}

/** Runs a module to its end, and gives its answer. */
export async function runChild(module, args, { timeoutMs } = {}) {
  const child = startChild(module, args)
  let answered
  child.on('message', (message) => {
    answered = message
  })
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const [code, signal] = await once(child, 'exit')
  clearTimeout(timer)
  if (signal === 'SIGKILL' && timeoutMs !== undefined) throw new TooSlowError(timeoutMs)
  if (answered === undefined) throw new Error(`${module} ended with ${signal ?? code} and gave no answer`)
  return answered
}

export class TooSlowError extends Error {
  constructor(timeoutMs) {
    super(`not done after ${timeoutMs / 1000} s`)
  }
}

/** For the child: what it was started with. */
export function argumentsOfChild() {
  return JSON.parse(process.argv[2])
}

/** For the child: when whoever waits for its answer is gone, it has no reason to go on. */
export function endWithParent() {
  process.on('disconnect', abandoned)
}

/** For the child: its answer, after which it must come to its end by itself. */
export function answer(message) {
  process.off('disconnect', abandoned)
  process.send(message, () => process.disconnect())
}

function abandoned() {
  process.exit(1)
}
