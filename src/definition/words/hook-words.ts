import type { JobContext } from '../context.ts'
import type { ErrorHook, Filter, FilterContext, Hook, SuccessHook } from '../fields.ts'
import type { Changes } from '../given-values.ts'
import { functionProblem, refuse } from '../names.ts'
import { type SaidOfJob, subjectOf, type WordTable } from './word-table.ts'

/** Hooks around a run. Hooks of the same kind are called in the order in which they were added. */
export interface HookWords<Payload, Result> {
  /** Runs the job only if every such filter returns true; otherwise the job ends as skipped without using up an attempt. */
  when(filter: (payload: Payload, context: FilterContext) => boolean | Promise<boolean>): this
  /** Skips the job if any such filter returns true. */
  skip(filter: (payload: Payload, context: FilterContext) => boolean | Promise<boolean>): this
  before(hook: (payload: Payload, context: JobContext<Payload>) => unknown): this
  onSuccess(hook: (result: Awaited<Result>, payload: Payload, context: JobContext<Payload>) => unknown): this
  onError(hook: (error: unknown, payload: Payload, context: JobContext<Payload>) => unknown): this
  finally(hook: (payload: Payload, context: JobContext<Payload>) => unknown): this
}

export const hookWords = {
  when: (said, filter: Filter) => added(said, 'when', filter),
  skip: (said, filter: Filter) => added(said, 'skip', filter),
  before: (said, hook: Hook) => added(said, 'before', hook),
  onSuccess: (said, hook: SuccessHook) => added(said, 'onSuccess', hook),
  onError: (said, hook: ErrorHook) => added(said, 'onError', hook),
  finally: (said, hook: Hook) => added(said, 'finally', hook),
} as const satisfies WordTable<HookWords<never, never>>

function added(said: SaidOfJob, word: keyof HookWords<never, never>, hook: unknown): Changes {
  refuse(subjectOf(said), [functionProblem(hook, word)])
  return { [word]: [...(said[word] ?? []), hook] }
}
