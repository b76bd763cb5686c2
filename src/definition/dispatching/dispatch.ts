import type { JobDefinition } from '../definition.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import type { Run } from './run.ts'

export { type DispatchArguments, type DispatchOptions, dispatchOptionNames, dispatchOptions } from './dispatch-options.ts'

/** What a builder needs from the program it belongs to. */
export interface Dispatcher {
  dispatch(definition: JobDefinition, payload: unknown, options: DispatchOptions): Promise<Run>
  dispatchMany(definition: JobDefinition, payloads: readonly unknown[], options: DispatchOptions): Promise<readonly Run[]>
  /** Dispatches synchronously, in the transaction on a SQLite file given in the options. */
  dispatchAtOnce(definition: JobDefinition, payloads: readonly unknown[], options: DispatchOptions): readonly Run[]
}
