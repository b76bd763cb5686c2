import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { messageOf } from '../../src/core/errors.ts'
import { type Block, matchesLoosely } from './blocks.ts'
import { type Executed, execute } from './executing.ts'
import { PageDatabases } from './page-databases.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What examples may import, beside Treadle. */
const installed = [
  'zod',
  '@types/node',
  'pg',
  '@types/pg',
  'mysql2',
  'drizzle-orm',
  '@azure/service-bus',
  '@photostructure/sqlite',
]

/** What was wrong with each example; an example that is sound has no entry. */
export type Problems = ReadonlyMap<Block, string>

/** A folder with the built package installed, and in it a project for each page. */
export class DocsProject {
  readonly #folder = mkdtempSync(join(tmpdir(), 'treadle-docs-'))
  readonly #databases = new PageDatabases()
  readonly #problems = new Map<Block, string>()

  constructor() {
    writeFileSync(join(this.#folder, 'package.json'), '{ "type": "module" }')
    for (const name of installed) this.#install(name, join(root, 'node_modules', name))
    this.#install('treadle', root)
    mkdirSync(join(this.#folder, 'bin'))
    const launcher = `#!/bin/sh\n[ "$1" = treadle ] || exec echo "only npx treadle is run here"\nshift\nexec "${process.execPath}" "${root}dist/cli/main.js" "$@"\n`
    writeFileSync(join(this.#folder, 'bin/npx'), launcher, { mode: 0o755 })
    writeFileSync(join(this.#folder, 'runner.mjs'), runner)
  }

  /** Checks the types of all examples and runs them, the pages side by side and the examples of a page in their order. */
  async run(pages: readonly (readonly Block[])[]): Promise<Problems> {
    this.#compile(pages.flat())
    const waiting = [...pages]
    const lane = async () => {
      for (let page = waiting.shift(); page !== undefined; page = waiting.shift()) await this.#runPage(page)
    }
    await Promise.all([lane(), lane()])
    await this.#databases[Symbol.asyncDispose]()
    return this.#problems
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 })
  }

  #install(name: string, target: string): void {
    const path = join(this.#folder, 'node_modules', name)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(target, path, 'junction')
  }

  #fileOf(block: Block): string {
    const name = block.settings.file ?? `line-${block.line}.${block.language}`
    return join(this.#pageFolder(block), name)
  }

  #pageFolder({ page }: Block): string {
    return join(this.#folder, page.replaceAll(/[^\w-]/g, '-'))
  }

  #compiledFileOf(block: Block): string {
    return this.#fileOf(block).replace(this.#folder, join(this.#folder, 'out')).replace(/ts$/, 'js')
  }

  #compile(blocks: readonly Block[]): void {
    const files = new Map<string, Block>()
    for (const block of blocks) {
      mkdirSync(dirname(this.#fileOf(block)), { recursive: true })
      if (block.language === 'sh') continue
      if (block.language === 'python') {
        writeFileSync(this.#fileOf(block), block.code)
        continue
      }
      files.set(this.#fileOf(block), block)
      writeFileSync(this.#fileOf(block), /^(import|export)\b/m.test(block.code) ? block.code : `${block.code}\nexport {}`)
    }
    const program = ts.createProgram({
      rootNames: [...files.keys()],
      options: { ...compilerOptions, rootDir: this.#folder, outDir: join(this.#folder, 'out') },
    })
    for (const problem of ts.getPreEmitDiagnostics(program)) {
      const block = files.get(problem.file?.fileName ?? '')
      const text = ts.flattenDiagnosticMessageText(problem.messageText, ' ')
      if (block === undefined) throw new Error(`The examples could not be compiled: ${text}`)
      this.#report(block, `it does not compile: ${text} (${sourceLine(problem)})`)
    }
    program.emit()
  }

  async #runPage(blocks: readonly Block[]): Promise<void> {
    const toRun = blocks.filter(({ settings }) => settings.file === undefined && settings['no-run'] === undefined)
    for (let at = 0; at < toRun.length; ) {
      // Programs that follow each other share a process: starting one takes longer than running an example.
      const end = toRun.findIndex((block, index) => index >= at && !sharesProcess(block))
      const programs = toRun.slice(at, end < 0 ? toRun.length : end)
      if (programs.length > 0) await this.#runPrograms(programs)
      at += programs.length
      const alone = toRun[at]
      if (alone !== undefined) await this.#runAlone(alone)
      at++
    }
  }

  async #runPrograms(blocks: readonly Block[]): Promise<void> {
    const programs = blocks.map(async (block) => ({ file: this.#compiledFileOf(block), env: await this.#environmentOf(block) }))
    const args = [join(this.#folder, 'runner.mjs'), JSON.stringify(await Promise.all(programs))]
    const { stdout, stderr, exit } = await this.#execute(process.execPath, args, blocks[0] as Block)
    const outputs = stdout.split(mark).slice(1)
    for (const [index, block] of blocks.entries()) {
      const [output = '', ending] = (outputs[index] ?? '').split(endMark)
      if (ending === undefined) this.#report(block, `it ended the process with ${exit}\n${output}${stderr}`)
      else this.#judge(block, output, JSON.parse(ending))
    }
  }

  #judge(block: Block, output: string, { error, code }: Ending): void {
    const { throws } = block.settings
    if (throws !== undefined && code !== throws) this.#report(block, `it must throw ${throws}, and threw ${error ?? 'nothing'}`)
    else if (throws === undefined && error !== null) this.#report(block, `it throws: ${error}`)
    this.#compare(block, output)
  }

  async #runAlone(block: Block): Promise<void> {
    const untilStopped = block.settings['stop-after'] !== undefined
    // Both outputs in one, as a terminal shows them. A program that is told to stop must be the process that gets the signal.
    const script = `exec 2>&1\n${untilStopped ? 'exec ' : ''}${block.code}`
    const [command, args] =
      block.language === 'sh' ? ['bash', ['-euo', 'pipefail', '-c', script]] : [process.execPath, [this.#compiledFileOf(block)]]
    const env = await this.#environmentOf(block)
    const { stdout, stderr, exit } = await this.#execute(command as string, args as string[], block, env)
    if (exit !== Number(block.settings.exit ?? 0)) this.#report(block, `it ends with ${exit}\n${stdout}${stderr}`)
    else this.#compare(block, `${stdout}\n${stderr}`)
  }

  #compare(block: Block, output: string): void {
    if (block.output !== null && !matchesLoosely(output, block.output)) {
      this.#report(block, `it does not print what the page says, but:\n${output}`)
    }
  }

  /** Says the first problem only: the others follow from it. */
  #report(block: Block, problem: string): void {
    if (!this.#problems.has(block)) this.#problems.set(block, problem)
  }

  async #environmentOf(block: Block): Promise<Readonly<Record<string, string>>> {
    try {
      return await this.#databases.environmentOf(block)
    } catch (thrown) {
      this.#report(block, messageOf(thrown))
      return {}
    }
  }

  #execute(
    command: string,
    args: readonly string[],
    block: Block,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Executed> {
    const { NODE_ENV: _, TREADLE_URL: __, TREADLE_SIGNING_KEY: ___, FORCE_COLOR: ____, ...inherited } = process.env
    const path = [join(this.#folder, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter)
    const env = { ...inherited, NO_COLOR: '1', PATH: path, ...more }
    return execute(command, args, { cwd: this.#pageFolder(block), env }, block.settings['stop-after'])
  }
}

/** How a program of several in a process ended. */
interface Ending {
  readonly error: string | null
  readonly code: string | null
}

function sharesProcess({ language, settings }: Block): boolean {
  return language !== 'sh' && !['alone', 'exit', 'stop-after'].some((name) => name in settings)
}

const mark = '\u0001begin\n'
const endMark = '\u0001end\n'

const runner = `
for (const { file, env } of JSON.parse(process.argv[2])) {
  process.stdout.write(${JSON.stringify(mark)})
  let ending = { error: null, code: null }
  Object.assign(process.env, env)
  try {
    await import(file)
  } catch (thrown) {
    ending = { error: String(thrown?.stack ?? thrown), code: thrown?.code ?? null }
  }
  process.stdout.write(${JSON.stringify(endMark)} + JSON.stringify(ending))
}
process.exit(0)
`

const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
  module: ts.ModuleKind.NodeNext,
  types: ['node'],
  allowJs: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
}

function sourceLine({ file, start }: ts.Diagnostic): string {
  if (file === undefined || start === undefined) return 'somewhere'
  const { line } = file.getLineAndCharacterOfPosition(start)
  return file.text.split('\n')[line]?.trim() ?? ''
}
