import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { type CallOptions, type Ended, Project, withoutTreadle } from './project.ts'

/**
 * A project whose commands are run by one process for the whole test file. For tests of what a command does and says; what its
 * process does (signals, standard input, its end) is tested with a `Project`.
 */
export class HostedProject extends Project {
  override call(args: readonly string[], options: CallOptions = {}): Promise<Ended> {
    if (options.input !== undefined) return super.call(args, options)
    const folder = this.path(options.folder ?? '.')
    mkdirSync(folder, { recursive: true })
    host ??= new Host()
    return host.call(args, folder, options.env ?? {})
  }
}

let host: Host | undefined
afterAll(() => host?.end())

interface Answer extends Ended {
  readonly id: number
}

class Host {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  readonly #ended: Promise<string>
  #calls = 0

  constructor() {
    const execArgv = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning']
    this.#child = fork(fileURLToPath(new URL('./command-host.mjs', import.meta.url)), {
      execArgv,
      env: withoutTreadle(process.env),
    })
    this.#child.on('message', (answer: Answer) => this.#waiting.get(answer.id)?.(answer))
    this.#ended = new Promise((resolve) => this.#child.on('exit', (code, signal) => resolve(`${signal ?? code}`)))
  }

  async call(args: readonly string[], folder: string, env: Readonly<Record<string, string>>): Promise<Ended> {
    const id = ++this.#calls
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve))
    this.#child.send({ id, args, folder, env })
    const answer = await Promise.race([answered, this.#ended])
    if (typeof answer === 'string') throw new Error(`treadle ${args.join(' ')} ended the process of all commands with ${answer}`)
    this.#waiting.delete(id)
    return { code: answer.code, out: answer.out, err: answer.err }
  }

  async end(): Promise<void> {
    this.#child.disconnect()
    await this.#ended
  }
}
