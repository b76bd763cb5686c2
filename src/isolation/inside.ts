import type { JobDefinition } from '../definition/definition.ts'
import type { Run } from '../definition/dispatching/run.ts'
import type { CrossingRun } from './crossing-context.ts'

/** A program that a module made in an isolate: there it is asked for its handlers, and does nothing by itself. */
export interface IsolatedProgram {
  url(): string
  find(job: string): JobDefinition | undefined
  /** A handle of a job that the worker stored for a handler. */
  handle(run: CrossingRun): Run
  close(): Promise<void>
}

/** What all copies of the library in an isolate share. */
export interface Inside {
  readonly programs: IsolatedProgram[]
  /** While the modules are loaded, a program must not do what it does when it is run: that is done already. */
  isLoading: boolean
  /** A program wants to work or to dispatch: what it defines is defined. It waits forever. */
  begin(): Promise<never>
  /** Resolves when `begin` is first called. */
  readonly begun: Promise<void>
}

const key = Symbol.for('treadle.isolate')
const shared = globalThis as { [key]?: Inside }

/** Marks this thread or process as an isolate, before anything else of the library is loaded. */
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

/** Undefined in a program that runs by itself. */
export function insideIsolate(): Inside | undefined {
  return shared[key]
}
