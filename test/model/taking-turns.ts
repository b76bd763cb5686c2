import type { JobNumbers } from '../../src/queue/contract/store.ts'
import type { StoredBackend } from './ground.ts'

/** Two programs on one queue that look like one: each call is made by the other one of them, so neither can rely on what it remembers. */
export function takingTurns(one: StoredBackend, other: StoredBackend): StoredBackend {
  let calls = 0
  const next = (): StoredBackend => (++calls % 2 === 0 ? one : other)
  const { store } = one
  return Object.assign(callsOf(one, next), {
    store: {
      ...callsOf(store, () => next().store),
      schedules: callsOf(store.schedules, () => next().store.schedules),
      ...(store.numbers && { numbers: callsOf(store.numbers, () => next().store.numbers as JobNumbers) }),
    },
    coordination: callsOf(one.coordination, () => next().coordination),
    async [Symbol.asyncDispose]() {
      await one[Symbol.asyncDispose]()
      await other[Symbol.asyncDispose]()
    },
  })
}

type Methods = Record<string, (...values: readonly unknown[]) => unknown>

/** What has the same methods, and makes each call on the one whose turn it is. */
function callsOf<Target extends object>(target: Target, next: () => Target): Target {
  const names = Object.keys(target).filter((name) => typeof target[name as keyof Target] === 'function')
  const calls = names.map((name) => [name, (...values: readonly unknown[]) => (next() as Methods)[name]?.(...values)])
  return Object.fromEntries(calls) as Target
}
