import type { LogLevel } from '../../core/logger.ts'
import type { ContextData, ContextMethod } from '../crossing-context.ts'
import type { PackedThrown } from '../thrown.ts'

/** Where an isolate finds the jobs: in a module that defines them, or in the config and the job files of a project. */
export type IsolateModules =
  | { readonly kind: 'module'; readonly path: string }
  | {
      readonly kind: 'project'
      readonly config: string | null
      /** Overrides the config; null uses the config's value. */
      readonly url: string | null
      readonly coordination: string | null
      /** The folder against which relative paths are resolved. */
      readonly folder: string
      readonly jobs: readonly string[]
    }

export type ToIsolate =
  /** The first message. `parent` is the process that the isolate must not outlive. */
  | { readonly kind: 'load'; readonly modules: IsolateModules; readonly parent: number }
  | { readonly kind: 'run'; readonly program: string; readonly context: ContextData }
  /** The handler may be called within this time after the request. Later than that, the isolate asks again. */
  | { readonly kind: 'begin'; readonly openMs: number }
  | { readonly kind: 'abort'; readonly reason: PackedThrown }
  | { readonly kind: 'answer'; readonly call: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly call: number; readonly thrown: PackedThrown }
  | { readonly kind: 'end' }

export type FromIsolate =
  | { readonly kind: 'unloadable'; readonly thrown: PackedThrown }
  /** Everything is ready. Asks whether the handler may be called. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'call'; readonly call: number; readonly method: ContextMethod; readonly args: readonly unknown[] }
  /** `fields` is JSON text. */
  | { readonly kind: 'log'; readonly level: LogLevel; readonly message: string; readonly fields?: string }
  /** `problem` says why the result could not be sent. */
  | { readonly kind: 'returned'; readonly value: unknown; readonly problem?: string }
  | { readonly kind: 'threw'; readonly thrown: PackedThrown }
  | { readonly kind: 'snoozed'; readonly delayMs: number }
  /** An uncaught error that ends the isolate. */
  | { readonly kind: 'uncaught'; readonly thrown: PackedThrown }

export function modulesText(modules: IsolateModules): string {
  if (modules.kind === 'module') return modules.path
  return [modules.config, ...modules.jobs].filter((path) => path !== null).join(', ') || 'no module at all'
}
