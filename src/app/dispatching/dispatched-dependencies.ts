import { shown } from '../../core/text/shown.ts'
import {
  type DependencyFailure,
  type DispatchOptions,
  dependencyFailures,
} from '../../definition/dispatching/dispatch-options.ts'
import type { WaitLink } from '../../envelope/envelope.ts'

interface DispatchedDependencies {
  readonly waitsFor: readonly WaitLink[]
  readonly problems: readonly string[]
}

const none: DispatchedDependencies = { waitsFor: [], problems: [] }

/** The dependencies that the options of a dispatch specify. */
export function dispatchedDependencies(options: DispatchOptions): DispatchedDependencies {
  const { dependsOn, onDependencyFailure } = options
  if (dependsOn === undefined) {
    if (onDependencyFailure === undefined) return none
    return { waitsFor: [], problems: ['onDependencyFailure has no meaning without dependsOn'] }
  }
  const onFailure = onDependencyFailure ?? 'fail'
  const list: readonly unknown[] = Array.isArray(dependsOn) ? dependsOn : [dependsOn]
  const ids = list.map((each) => (isHandle(each) ? each.id : each))
  return {
    waitsFor: ids.map((id) => ({ id: typeof id === 'string' ? id : '', onFailure })),
    problems: [
      ...ids.filter((id) => typeof id !== 'string' || id === '').map(idProblem),
      ...(dependencyFailures.includes(onFailure) ? [] : [policyProblem(onFailure)]),
    ],
  }
}

function isHandle(value: unknown): value is { readonly id: unknown } {
  return typeof value === 'object' && value !== null && 'id' in value
}

function idProblem(id: unknown): string {
  return `dependsOn takes the handle or the id of a job, or a list of them, got ${shown(id)}`
}

function policyProblem(policy: DependencyFailure): string {
  return `onDependencyFailure must be one of ${dependencyFailures.join(', ')}, got ${shown(policy)}`
}
