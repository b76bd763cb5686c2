import { type ChildProcess, spawn } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { findConfigFile } from '../../app/config/config-file.ts'
import { guard } from '../../handlers/guardian.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Output } from '../output/output.ts'
import { stopRequest } from '../working/signals.ts'
import { FileChanges } from './file-changes.ts'

/** Starts this same command without `--watch`, and restarts it whenever a source file of the project changes. */
export async function watchWorking(out: Output, config: string | undefined): Promise<number> {
  const folder = projectFolder(config)
  const changes = new FileChanges(folder)
  let worker = new WatchedWorker(out)
  let signals = 0
  const stop = stopRequest(
    () => worker.signal('SIGTERM'),
    () => worker.signal(++signals > 1 ? 'SIGKILL' : 'SIGTERM'),
  )
  out.note(`watching ${folder}`)
  for (;;) {
    const file = await changes.next(stop.signal)
    if (file === null) break
    out.note(`${file} has changed: starting again`)
    await worker.end()
    if (stop.signal.aborted) break
    worker = new WatchedWorker(out)
  }
  changes.close()
  const code = await worker.end()
  return signals > 0 ? exitCodes.interrupted : code
}

function projectFolder(config: string | undefined): string {
  const path = config === undefined ? findConfigFile(process.cwd()) : resolve(config)
  return path === null ? process.cwd() : dirname(path)
}

/**
 * One worker process. It leads its own process group, so that signals from the terminal reach it only once, passed on
 * by this process.
 */
class WatchedWorker {
  readonly #child: ChildProcess
  readonly #ended: Promise<number>
  #isEnding = false

  constructor(out: Output) {
    const args = process.argv.slice(1).filter((arg) => arg !== '--watch')
    this.#child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: 'inherit', detached: true })
    // If this process is killed, its worker is killed with it.
    const unguard = this.#child.pid === undefined ? () => {} : guard(this.#child.pid)
    this.#ended = new Promise((done) => {
      this.#child.on('error', () => done(exitCodes.failed))
      this.#child.on('exit', (code) => {
        unguard()
        if (!this.#isEnding) out.note(`the worker has ended${code === 0 ? '' : ` with code ${code}`}; waiting for a change`)
        done(code ?? exitCodes.failed)
      })
    })
  }

  signal(name: NodeJS.Signals): void {
    this.#isEnding = true
    this.#child.kill(name)
  }

  end(): Promise<number> {
    if (this.#child.exitCode === null && !this.#isEnding) this.signal('SIGTERM')
    return this.#ended
  }
}
