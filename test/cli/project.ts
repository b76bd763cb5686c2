import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, onTestFinished } from 'vitest'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const terminal = fileURLToPath(new URL('./terminal.py', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface CallOptions {
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
  /** Below the project's folder. */
  readonly folder?: string
}

// As in a real project there is a folder node_modules, which keeps what was compiled; compiling takes longer than most commands.
const above = realpathSync(mkdtempSync(join(tmpdir(), 'treadle-cli-')))
mkdirSync(join(above, 'node_modules'))
afterAll(() => rmSync(above, { recursive: true, force: true }))

/** Folders of tests that have ended: what is compiled is known by its path. */
const leftFolders: string[] = []
let folders = 0

/** A folder with files, in which the built command line runs as its users run it. */
export class Project {
  readonly folder = leftFolders.pop() ?? join(above, String(++folders))
  #mayBeInUse = false

  constructor(files: Readonly<Record<string, string>> = {}) {
    mkdirSync(this.folder)
    for (const [path, text] of Object.entries(files)) this.write(path, text)
    onTestFinished(() => {
      rmSync(this.folder, { recursive: true, force: true })
      if (!this.#mayBeInUse) leftFolders.push(this.folder)
    })
  }

  path(path: string): string {
    return join(this.folder, path)
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(this.path(path)), { recursive: true })
    writeFileSync(this.path(path), text)
  }

  async call(args: readonly string[], options: CallOptions = {}): Promise<Ended> {
    const running = this.#spawn(args, options)
    running.child.stdin?.end(options.input ?? '')
    return running.ended
  }

  /** The data of a command that must succeed. */
  async json(args: readonly string[]): Promise<unknown> {
    const { code, out, err } = await this.call([...args, '--json'])
    if (code !== 0) throw new Error(`treadle ${args.join(' ')} ended with ${code}: ${err}`)
    return JSON.parse(out)
  }

  start(args: readonly string[], options: CallOptions = {}): Running {
    // A process that it has started may outlive it.
    this.#mayBeInUse = true
    return this.#spawn(args, options)
  }

  /** The same on a terminal of this size: what is written to its input is typed. */
  startOnTerminal(args: readonly string[], columns: number, rows: number): Running {
    this.#mayBeInUse = true
    const env = { ...withoutTreadle(process.env), TERM: 'xterm-256color' }
    const command = [terminal, String(columns), String(rows), process.execPath, main, ...args]
    return new Running(spawn('python3', command, { cwd: this.folder, env }))
  }

  #spawn(args: readonly string[], options: CallOptions): Running {
    const cwd = this.path(options.folder ?? '.')
    mkdirSync(cwd, { recursive: true })
    const env = { ...withoutTreadle(process.env), ...options.env }
    return new Running(spawn(process.execPath, [main, ...args], { cwd, env }))
  }
}

/** The environment of whoever runs the tests says nothing to the commands. */
export function withoutTreadle({
  TREADLE_URL: _url,
  TREADLE_SIGNING_KEY: _key,
  TREADLE_SIGNING_KEY_FILE: _file,
  TREADLE_UNSIGNED: _unsigned,
  ...inherited
}: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return inherited
}

/** A command under way. */
export class Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  #out = ''
  #err = ''
  #look: () => void = () => {}

  constructor(child: ChildProcess) {
    this.child = child
    child.stdout?.on('data', (bytes) => this.#read(() => (this.#out += bytes)))
    child.stderr?.on('data', (bytes) => this.#read(() => (this.#err += bytes)))
    // A command that ends early does not read what it was given.
    child.stdin?.on('error', () => {})
    this.ended = new Promise((resolve) => {
      child.on('close', (code) => this.#read(() => resolve({ code, out: this.#out, err: this.#err })))
    })
    onTestFinished(() => void child.kill('SIGKILL'))
  }

  /** Resolves when the text was written, to either output, with all that was printed so far. */
  async says(text: string): Promise<string> {
    const ended = this.ended.then(({ code }) => `it ended with ${code}`)
    const said = new Promise<undefined>((resolve) => {
      this.#look = () => (this.#out.includes(text) || this.#err.includes(text)) && resolve(undefined)
      this.#look()
    })
    const problem = await Promise.race([said, ended])
    if (problem !== undefined && !this.#out.includes(text) && !this.#err.includes(text)) {
      throw new Error(`"${text}" was never said: ${problem}\n${this.#out}\n${this.#err}`)
    }
    return this.#out
  }

  #read(add: () => void): void {
    add()
    this.#look()
  }
}

export const configText = `import { defineConfig } from 'treadle'
export default defineConfig({ url: 'sqlite:jobs.db' })
`

/** Jobs that end in every way. */
export const jobsText = `import { jobs, PermanentError } from 'treadle'
jobs.define('add', ({ a, b }: { a: number; b: number }) => a + b)
jobs.define('flaky', (_: unknown, ctx) => {
  if (ctx.attempt < 2) throw new Error('not yet')
}).retries(3, { strategy: 'none' })
jobs.define('fails', () => {
  throw new PermanentError('broken \\u001b[31m for good')
}).queue('mail')
jobs.define('patient', async (_: unknown, ctx) => {
  console.log('patient began')
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
  ctx.signal.throwIfAborted()
})
jobs.define('yearly', () => {}).cron('0 0 1 1 *')
`

export const jobFiles = { 'treadle.config.ts': configText, 'jobs/all.ts': jobsText }

export function jobProject(): Project {
  return new Project(jobFiles)
}
