import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { environmentOfThisNode, npm } from '../../scripts/npm.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The package as it is published, unpacked into a folder that has all that it depends on. */
export class PackedPackage implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'treadle-examples-'))
  readonly path: string

  constructor() {
    const packed = npm(['pack', '--ignore-scripts', '--json', '--pack-destination', this.folder], {
      cwd: root,
      stdio: 'pipe',
      encoding: 'utf8',
    })
    if (packed.status !== 0) throw new Error(`npm pack failed:\n${packed.stderr}`)
    const [{ filename }] = JSON.parse(String(packed.stdout))
    this.path = join(this.folder, filename)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** A copy of one of the folders of `examples/`, or a folder with the files that are given. */
export class Example {
  readonly folder: string
  readonly #started: ChildProcess[] = []

  constructor(packed: PackedPackage, name: string, files?: Readonly<Record<string, string>>) {
    this.folder = mkdtempSync(join(packed.folder, `${name}-`))
    for (const [path, text] of Object.entries(files ?? {})) writeFileSync(join(this.folder, path), text)
    if (files === undefined) cpSync(join(root, 'examples', name), this.folder, { recursive: true, filter: isSource })
  }

  /** What the example's package.json names, of this repository's own packages: nothing is fetched. */
  async link(packed: PackedPackage): Promise<this> {
    const { dependencies = {}, devDependencies = {} } = this.#manifest()
    const { dependencies: needed, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    mkdirSync(join(this.folder, 'node_modules/treadle'), { recursive: true })
    await this.run('tar', ['xzf', packed.path, '-C', 'node_modules/treadle', '--strip-components=1'])
    for (const name of Object.keys({ ...dependencies, ...devDependencies, ...needed, ...optionalDependencies })) {
      const [from, to] = [join(root, 'node_modules', name), join(this.folder, 'node_modules', name)]
      if (existsSync(to) || !existsSync(from)) continue
      mkdirSync(dirname(to), { recursive: true })
      symlinkSync(from, to, 'junction')
    }
    return this
  }

  /** As a user would. Gives why it cannot be done, else null. */
  install(packed: PackedPackage, ...more: readonly string[]): string | null {
    const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', ...more]
    const installed = npm(['install', ...flags, packed.path], { cwd: this.folder, stdio: 'pipe', encoding: 'utf8' })
    return installed.status === 0 ? null : `its packages cannot be installed here: ${String(installed.stderr).trim()}`
  }

  /** A program in TypeScript, for the Node that has no types: in place of tsx, which the examples name. Gives the file. */
  compile(program: string): string {
    const outfile = join(this.folder, `compiled/${program.replace(/ts$/, 'js')}`)
    const entryPoints = [join(this.folder, program)]
    buildSync({ entryPoints, outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm', logLevel: 'error' })
    return outfile
  }

  /** Runs a program to its end, and gives all that it printed. */
  async run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    const child = this.#spawn(command, args, env)
    const output = collected(child)
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output()}`)
    return output()
  }

  treadle(...args: readonly string[]): Promise<string> {
    return this.run(process.execPath, ['node_modules/treadle/dist/cli/main.js', ...args])
  }

  /** Starts a program that goes on until it is stopped; resolves when it has printed the text. */
  async start(args: readonly string[], until: string, env: Readonly<Record<string, string>> = {}): Promise<Started> {
    const child = this.#spawn(process.execPath, args, env)
    const output = collected(child)
    const closed = once(child, 'close')
    await new Promise<void>((resolve, reject) => {
      const look = () => output().includes(until) && resolve()
      child.stdout?.on('data', look)
      child.stderr?.on('data', look)
      child.on('close', (code) =>
        reject(new Error(`${args.join(' ')} ended with ${code} before it said "${until}":\n${output()}`)),
      )
    })
    const stop = async () => {
      child.kill('SIGTERM')
      const [code, signal] = await closed
      return { exit: signal ?? code, output: output() }
    }
    return { output, stop }
  }

  /** Nothing of it goes on. */
  end(): void {
    for (const child of this.#started) child.kill('SIGKILL')
  }

  #manifest(): { readonly dependencies?: object; readonly devDependencies?: object } {
    return JSON.parse(readFileSync(join(this.folder, 'package.json'), 'utf8'))
  }

  #spawn(command: string, args: readonly string[], more: Readonly<Record<string, string>>): ChildProcess {
    const {
      NODE_ENV: _,
      VITEST: __,
      TREADLE_URL: ___,
      FORCE_COLOR: ____,
      ...inherited
    }: NodeJS.ProcessEnv = environmentOfThisNode()
    const path = [join(this.folder, 'node_modules/.bin'), inherited.PATH].join(delimiter)
    const env = { ...inherited, NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1', PATH: path, ...more }
    const child = spawn(command, args, { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#started.push(child)
    return child
  }
}

export interface Started {
  output(): string
  stop(): Promise<{ readonly exit: number | string | null; readonly output: string }>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Not what was installed or built in it. */
function isSource(path: string): boolean {
  return !/[/\\](node_modules|dist|build|generated|\.next|\.nuxt|\.output|\.react-router)$/.test(path)
}

function collected(child: ChildProcess): () => string {
  let output = ''
  const add = (chunk: Buffer) => {
    output += chunk
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  return () => output
}
