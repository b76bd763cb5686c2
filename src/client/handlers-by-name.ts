import { type Glob, glob } from '../core/text/glob.ts'
import type { RemoteHandler } from './remote-run.ts'

interface PatternHandler {
  readonly matches: Glob
  readonly handler: RemoteHandler<never>
}

/** Finds the handler of a job. A name may be a pattern, as it is for the server; a literal name takes precedence. */
export class HandlersByName {
  readonly #byName: ReadonlyMap<string, RemoteHandler<never>>
  readonly #byPattern: readonly PatternHandler[]

  constructor(handlers: object) {
    this.#byName = new Map(Object.entries(handlers))
    this.#byPattern = [...this.#byName].map(([name, handler]) => ({ matches: glob(name), handler }))
  }

  of(job: string): RemoteHandler<never> {
    const handler = this.#byName.get(job) ?? this.#byPattern.find(({ matches }) => matches(job))?.handler
    if (handler !== undefined) return handler
    return async () => {
      throw new Error(`The server handed out "${job}", which none of the handlers is for`)
    }
  }
}
