import { fileURLToPath } from 'node:url'
import { ownFolder } from '../core/files/own-file.ts'
import { nextTurn } from '../core/time/clock.ts'

/** Where and when a job was defined. */
export interface DefinitionPlace {
  /** The module, as the stack names it: with its query where it was imported with one. */
  readonly module: string
  /** The same without a query: a module that is loaded again has another one. */
  readonly file: string
  /** The output folder of the bundler that split the program into chunks; null where the file is no chunk. */
  readonly bundle: string | null
  /** Imported by Node itself, which evaluates each URL once. */
  readonly isImported: boolean
  /** By the module itself while it was loaded, and not by a function that it has. */
  readonly isTopLevel: boolean
  /** Another one after each turn of the event loop. */
  readonly turn: number
}

/** Null where the stack does not tell, as in a bundle that the library is part of. */
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

/** What it means that a job is defined once more: `copy` and `reload` take the place of the earlier definition. */
export type Repetition = 'duplicate' | 'copy' | 'reload'

/**
 * A module that was loaded again, by hot reloading, defines its job once more: Node imports a module twice only by different URLs;
 * other loaders evaluate the same file again, some turns later. A bundler that makes a bundle for each route, as Next.js does, puts
 * a copy of the module into each of them.
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
/** How engines call the code of a module that is in no function. */
const topLevelNames = /^(?:|eval|<anonymous>|Object\.<anonymous>|module evaluation|\(.*\)\/.*|\[project\].*)$/
const node = /node:internal\/modules|node:internal\/process\/esm/
/** Code that goes on after an await, as a module does that imports an ES module from a CommonJS chunk. */
const awaited = /node:internal\/process\/task_queues/
/** Where Next.js puts its chunks, also into a folder of another name, and how webpack names modules that it evaluates from texts. */
const chunks = /^(.*?[/\\])(?:\.next[/\\]|server[/\\]chunks[/\\])|^(webpack-internal:)/
/** Of jiti, Vite, webpack and Turbopack, which evaluate a file as often as it is asked for. */
const evaluators =
  /__webpack_require__|webpack[/\\]|webpack-internal|\[turbopack\]|instantiateModule|jiti|tsx[/\\]dist|ModuleRunner|ModuleEvaluator|run(?:Inlined|External)Module|module-runner/

/** What lies above this library on the stack. */
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
  // The stack names modules by URL or by path, as their loader does.
  const names = [folder.href, fileURLToPath(folder)]
  return frames.slice(frames.findIndex(({ file }) => !names.some((name) => file.startsWith(name))))
}

/** Chunks are named by paths when they are loaded first, and by URLs when one of their modules is loaded again. */
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
