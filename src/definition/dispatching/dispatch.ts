import type { JobDefinition } from '../definition.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import type { Run } from './run.ts'

export { type DispatchArguments, type DispatchOptions, dispatchOptionNames, dispatchOptions } from './dispatch-options.ts'

/** What a builder needs of the program that it belongs to. */
export interface Dispatcher {
  dispatch(definition: JobDefinition, payload: unknown, options: DispatchOptions): Promise<Run>
  dispatchMany(definition: JobDefinition, payloads: readonly unknown[], options: DispatchOptions): Promise<readonly Run[]>
  /** At once, in a transaction on a SQLite file that the options name. */
  dispatchAtOnce(definition: JobDefinition, payloads: readonly unknown[], options: DispatchOptions): readonly Run[]
}
