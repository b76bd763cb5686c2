import type { LogLevel } from '../../core/logger.ts'
import type { ContextData, ContextMethod } from '../crossing-context.ts'
import type { PackedThrown } from '../thrown.ts'

/** Where an isolate finds the jobs: a module that defines them, or the config and the job files of a project. */
export type IsolateModules =
  | { readonly kind: 'module'; readonly path: string }
  | {
      readonly kind: 'project'
      readonly config: string | null
      /** Goes before what the config says; null where it says it. */
      readonly url: string | null
      readonly coordination: string | null
      /** Where relative files begin. */
      readonly folder: string
      readonly jobs: readonly string[]
    }

export type ToIsolate =
  /** The first one. `parent` is the process that it must not outlive. */
  | { readonly kind: 'load'; readonly modules: IsolateModules; readonly parent: number }
  | { readonly kind: 'run'; readonly program: string; readonly context: ContextData }
  /** The handler may be called within this time since it was asked for; after that, it is asked again. */
  | { readonly kind: 'begin'; readonly openMs: number }
  | { readonly kind: 'abort'; readonly reason: PackedThrown }
  | { readonly kind: 'answer'; readonly call: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly call: number; readonly thrown: PackedThrown }
  | { readonly kind: 'end' }

export type FromIsolate =
  | { readonly kind: 'unloadable'; readonly thrown: PackedThrown }
  /** Everything is ready: may the handler be called? */
  | { readonly kind: 'ready' }
  | { readonly kind: 'call'; readonly call: number; readonly method: ContextMethod; readonly args: readonly unknown[] }
  /** The fields are a JSON text. */
  | { readonly kind: 'log'; readonly level: LogLevel; readonly message: string; readonly fields?: string }
  /** `problem` is why the result could not come along. */
  | { readonly kind: 'returned'; readonly value: unknown; readonly problem?: string }
  | { readonly kind: 'threw'; readonly thrown: PackedThrown }
  | { readonly kind: 'snoozed'; readonly delayMs: number }
  /** Nobody caught this: the isolate ends. */
  | { readonly kind: 'uncaught'; readonly thrown: PackedThrown }

export function modulesText(modules: IsolateModules): string {
  if (modules.kind === 'module') return modules.path
  return [modules.config, ...modules.jobs].filter((path) => path !== null).join(', ') || 'no module at all'
}
