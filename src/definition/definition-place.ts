import { fileURLToPath } from 'node:url'
import { ownFolder } from '../core/files/own-file.ts'
import { nextTurn } from '../core/time/clock.ts'

/** Where and when a job was defined. */
export interface DefinitionPlace {
  /** The module as named in the stack trace, including any query it was imported with. */
  readonly module: string
  /** The module without its query; a reloaded module has a different query. */
  readonly file: string
  /** The output folder of the bundler that split the program into chunks; null if the file is not a chunk. */
  readonly bundle: string | null
  /** Whether Node itself imported the module; Node evaluates each URL once. */
  readonly isImported: boolean
  /** Whether the module defined the job while loading, and not from inside a function. */
  readonly isTopLevel: boolean
  /** Differs after each turn of the event loop. */
  readonly turn: number
}

/** Null if the stack trace does not tell, as in a bundle that includes this library. */
export function definitionPlace(): DefinitionPlace | null {
  const frames = callerFrames()
  const [caller] = frames
  if (caller === undefined) return null
  const file = fileOf(caller.file)
  const bundle = bundleOf(file)
  const outer = frames.find((frame) => fileOf(frame.file) !== file)
  const above = outer === undefined ? '' : `${outer.name} ${outer.file}`
  const isEvaluated = above === '' || node.test(above) || evaluators.test(above) || (bundle !== null && awaited.test(above))
  const isTopLevel = topLevelNames.test(caller.name) && isEvaluated
  const isImported = caller.file.startsWith('file:') && !evaluators.test(above)
  return { module: caller.file, file, bundle, isImported, isTopLevel, turn: currentTurn() }
}

/** What a repeated definition of a job means: `copy` and `reload` replace the earlier definition. */
export type Repetition = 'duplicate' | 'copy' | 'reload'

/**
 * A hot-reloaded module defines its jobs again: Node imports a module twice only under different URLs; other loaders evaluate the
 * same file again in a later turn. A bundler that creates a bundle per route, as Next.js does, puts a copy of the module into
 * each of them.
 */
export function repetitionOf(before: DefinitionPlace | null, after: DefinitionPlace | null): Repetition {
  if (before === null || after === null || !before.isTopLevel || !after.isTopLevel) return 'duplicate'
  if (before.file !== after.file) return before.bundle !== null && before.bundle === after.bundle ? 'copy' : 'duplicate'
  const isAgain = after.isImported ? before.module !== after.module : before.turn !== after.turn
  return isAgain ? 'reload' : 'duplicate'
}

interface Frame {
  readonly name: string
  readonly file: string
}

const deepest = 30
const framePattern = /^\s*at (?:async )?(?:(.*?) \()?((?:[a-z][\w+.-]*:|\/|[A-Za-z]:\\).*?):\d+:\d+\)?$/
/** How engines name top-level code of a module. */
const topLevelNames = /^(?:|eval|<anonymous>|Object\.<anonymous>|module evaluation|\(.*\)\/.*|\[project\].*)$/
const node = /node:internal\/modules|node:internal\/process\/esm/
/** Code resumed after an await, such as a module that imports an ES module from a CommonJS chunk. */
const awaited = /node:internal\/process\/task_queues/
/**
 * Where Next.js puts its chunks, whatever the output folder is called, and how webpack names modules that it evaluates from
 * strings.
 */
const chunks = /^(.*?[/\\])(?:\.next[/\\]|server[/\\]chunks[/\\])|^(webpack-internal:)/
/** Stack frames of jiti, Vite, webpack and Turbopack, which evaluate a file every time it is requested. */
const evaluators =
  /__webpack_require__|webpack[/\\]|webpack-internal|\[turbopack\]|instantiateModule|jiti|tsx[/\\]dist|ModuleRunner|ModuleEvaluator|run(?:Inlined|External)Module|module-runner/

/** The stack frames above this library. */
function callerFrames(): readonly Frame[] {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = deepest
  const { stack = '' } = new Error()
  Error.stackTraceLimit = before
  const frames = stack.split('\n').flatMap((line) => {
    const [, name = '', file] = framePattern.exec(line) ?? []
    return file === undefined ? [] : [{ name, file }]
  })
  const folder = ownFolder()
  if (folder === undefined) return []
  // Stack traces name modules by URL or by path, depending on the loader.
  const names = [folder.href, fileURLToPath(folder)]
  return frames.slice(frames.findIndex(({ file }) => !names.some((name) => file.startsWith(name))))
}

/** Chunks are named by path when first loaded, and by URL when one of their modules is reloaded. */
function fileOf(named: string): string {
  const file = withoutQuery(named)
  if (!file.startsWith('file:') || bundleOf(file) === null) return file
  return fileURLToPath(file)
}

function bundleOf(file: string): string | null {
  const [, folder, internal] = chunks.exec(file) ?? []
  return folder ?? internal ?? null
}

function withoutQuery(file: string): string {
  return file.replace(/[?#].*$/, '')
}

let turn = 0
let isCounting = false

function currentTurn(): number {
  if (!isCounting) {
    isCounting = true
    void nextTurn().then(() => {
      turn++
      isCounting = false
    })
  }
  return turn
}
