import { type ChildProcess, spawn } from 'node:child_process'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

interface StartOptions {
  readonly cwd?: string
  /** In front of the program's own command line, such as a shell that sets a limit first. */
  readonly prefix?: readonly string[]
  readonly nodeArgs?: readonly string[]
}

const running = new Set<Program>()

/** Starts one of `programs/*.mjs` as a process of its own. It gets its options as JSON and speaks in lines. */
export function startProgram(name: string, options: object, how: StartOptions = {}): Program {
  return startProgramFile(fileURLToPath(new URL(`./programs/${name}.mjs`, import.meta.url)), options, how)
}

export function startProgramFile(file: string, options: object, { cwd, prefix = [], nodeArgs = [] }: StartOptions = {}): Program {
  const commandLine = [...prefix, process.execPath, ...nodeArgs, file, JSON.stringify(options)]
  const child = spawn(commandLine[0]!, commandLine.slice(1), {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  })
  const program = new Program(basename(file, '.mjs'), child)
  running.add(program)
  void program.ended.then(() => running.delete(program))
  return program
}

/** For `afterEach`: whatever a failed test left behind is ended, each by its own id. */
export async function endPrograms(): Promise<void> {
  await Promise.all([...running].map((program) => program.kill()))
}

export class Program {
  readonly lines: string[] = []
  stderr = ''
  readonly ended: Promise<Ending>
  readonly #name: string
  readonly #child: ChildProcess
  readonly #listeners = new Set<() => void>()
  #ending: Ending | undefined

  constructor(name: string, child: ChildProcess) {
    this.#name = name
    this.#child = child
    createInterface({ input: child.stdout! }).on('line', (line) => {
      this.lines.push(line)
      for (const listener of [...this.#listeners]) listener()
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    child.stdin!.on('error', () => {})
    this.ended = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        this.#ending = { code, signal }
        for (const listener of [...this.#listeners]) listener()
        resolve(this.#ending)
      })
    })
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** The first line that begins with this word. Throws, with what the program said, when it ends without it. */
  line(word: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.lines.find((line) => line === word || line.startsWith(`${word} `))
        if (found !== undefined) resolve(found)
        else if (this.#ending !== undefined) reject(new Error(`${this.describe()} without saying "${word}"`))
        else return
        this.#listeners.delete(look)
      }
      this.#listeners.add(look)
      look()
    })
  }

  /** A program that has been killed does not hear it. */
  tell(line: string): void {
    if (this.#ending === undefined) this.#child.stdin!.write(`${line}\n`)
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async kill(): Promise<Ending> {
    this.signal('SIGKILL')
    return this.ended
  }

  /** Waits for an end with code 0 and nothing on stderr; throws with what was said otherwise. */
  async success(): Promise<readonly string[]> {
    const { code } = await this.ended
    if (code !== 0 || this.stderr !== '') throw new Error(this.describe())
    return this.lines
  }

  /** How it goes, with what it said last. */
  describe(): string {
    const how = this.#ending === undefined ? 'runs' : `ended with ${this.#ending.signal ?? this.#ending.code}`
    return `${this.#name} ${how}\n${this.lines.slice(-20).join('\n')}\n${this.stderr.slice(-4_000)}`
  }
}

/** Looks until it is true. A state that never comes is an error with what was seen last. */
export async function eventually(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
  // Longer than anything takes beside a machine's other work, and shorter than a test may.
  const longestMs = 120_000
  const betweenMs = 25
  for (let waitedMs = 0; waitedMs < longestMs; waitedMs += betweenMs) {
    if (await look()) return
    await new Promise((resolve) => setTimeout(resolve, betweenMs))
  }
  throw new Error(`Waited in vain: ${what}`)
}
