import { TreadleError } from '../core/errors.ts'
import type { JobContext } from '../definition/context.ts'
import type { RunMiddleware } from '../definition/middleware.ts'

/** Calls the handler of a run through its middleware, outermost first, and gives its result. */
export function throughMiddleware(
  around: readonly RunMiddleware[],
  context: JobContext<never>,
  call: (context: JobContext<never>) => Promise<unknown>,
): Promise<unknown> {
  return enter(0, context)

  function enter(place: number, seen: JobContext<never>): Promise<unknown> {
    const middleware = around[place]
    if (middleware === undefined) return call(seen)
    let inner: Promise<unknown> | undefined
    const next = (added?: object) => {
      if (inner !== undefined) throw new TreadleError('CONFIG_INVALID', 'A middleware called next() twice in one run')
      inner = enter(place + 1, added === undefined ? seen : withAdded(seen, added))
      return inner
    }
    try {
      const own = middleware(seen, next)
      // Nothing has to be waited for where it only passes on.
      return inner !== undefined && own === inner ? inner : resultOf(own, () => inner)
    } catch (thrown) {
      return Promise.reject(thrown)
    }
  }
}

/** Most return nothing of their own: then the result is that of whatever they wrap, also where they did not wait for it. */
async function resultOf(own: unknown, inner: () => Promise<unknown> | undefined): Promise<unknown> {
  const result = await own
  return result === undefined ? inner() : result
}

/** The context with what a middleware adds. What a context has already cannot be replaced. */
function withAdded(context: JobContext<never>, added: object): JobContext<never> {
  const names = membersOf(context)
  const taken = Object.keys(added).filter((name) => names.has(name))
  if (taken.length > 0) {
    throw new TreadleError('CONFIG_INVALID', `A middleware cannot replace what a context has: ${taken.join(', ')}`)
  }
  const all: object = {}
  // Asked for when it is used: parts of a context are made then.
  for (const name of names) {
    Object.defineProperty(all, name, { enumerable: true, get: () => context[name as keyof JobContext<never>] })
  }
  return Object.freeze(Object.defineProperties(all, Object.getOwnPropertyDescriptors(added))) as JobContext<never>
}

/** Also those that its class has, and those that an earlier middleware has added. */
function membersOf(context: object): ReadonlySet<string> {
  const names = new Set(Object.keys(context))
  const prototype: unknown = Object.getPrototypeOf(context)
  if (prototype === Object.prototype || prototype === null) return names
  for (const name of Object.getOwnPropertyNames(prototype)) if (name !== 'constructor') names.add(name)
  return names
}
