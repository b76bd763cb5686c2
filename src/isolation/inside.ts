import type { JobDefinition } from '../definition/definition.ts'
import type { Run } from '../definition/dispatching/run.ts'
import type { CrossingRun } from './crossing-context.ts'

/** A program created by a module in an isolate. It only provides its handlers and runs nothing by itself. */
export interface IsolatedProgram {
  url(): string
  find(job: string): JobDefinition | undefined
  /** The key of a job that a handler refers to. Only the key is sent to the worker. */
  keyOf(job: unknown): string
  /** A handle to a job that the worker stored for a handler. */
  handle(run: CrossingRun): Run
  close(): Promise<void>
}

/** What all copies of the library in an isolate share. */
export interface Inside {
  readonly programs: IsolatedProgram[]
  /**
   * True while modules are loading. During that time a program must not repeat its startup work, which the main program has
   * already done.
   */
  isLoading: boolean
  /** Called when a program wants to work or dispatch, which means that its definitions are complete. Never resolves. */
  begin(): Promise<never>
  /** Resolves when `begin` is first called. */
  readonly begun: Promise<void>
}

const key = Symbol.for('treadle.isolate')
const shared = globalThis as { [key]?: Inside }

/** Marks this thread or process as an isolate. Must be called before the rest of the library is loaded. */
export function enterIsolate(): Inside {
  let tellBegun = () => {}
  const begun = new Promise<void>((resolve) => {
    tellBegun = resolve
  })
  shared[key] = {
    programs: [],
    isLoading: true,
    begun,
    begin: () => {
      tellBegun()
      return new Promise(() => {})
    },
  }
  return shared[key]
}

/** Undefined if this is not an isolate. */
export function insideIsolate(): Inside | undefined {
  return shared[key]
}
