import { TreadleError } from '../core/errors.ts'
import type { JobContext } from '../definition/context.ts'
import type { RunMiddleware } from '../definition/middleware.ts'

/** Calls the handler of a run through its middleware, outermost first, and returns its result. */
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
      // A middleware that only passes the call on needs no extra await.
      return inner !== undefined && own === inner ? inner : resultOf(own, () => inner)
    } catch (thrown) {
      return Promise.reject(thrown)
    }
  }
}

/**
 * Most middleware returns nothing of its own. The result is then that of the wrapped call, even if the middleware did not await
 * it.
 */
async function resultOf(own: unknown, inner: () => Promise<unknown> | undefined): Promise<unknown> {
  const result = await own
  return result === undefined ? inner() : result
}

/** The context with what a middleware adds. Existing members cannot be replaced. */
function withAdded(context: JobContext<never>, added: object): JobContext<never> {
  const names = membersOf(context)
  const taken = Object.keys(added).filter((name) => names.has(name))
  if (taken.length > 0) {
    throw new TreadleError('CONFIG_INVALID', `A middleware cannot replace what a context has: ${taken.join(', ')}`)
  }
  const all: object = {}
  // Read on access: some parts of a context are created only then.
  for (const name of names) {
    Object.defineProperty(all, name, { enumerable: true, get: () => context[name as keyof JobContext<never>] })
  }
  return Object.freeze(Object.defineProperties(all, Object.getOwnPropertyDescriptors(added))) as JobContext<never>
}

/** Includes members of its class, and those added by earlier middleware. */
function membersOf(context: object): ReadonlySet<string> {
  const names = new Set(Object.keys(context))
  const prototype: unknown = Object.getPrototypeOf(context)
  if (prototype === Object.prototype || prototype === null) return names
  for (const name of Object.getOwnPropertyNames(prototype)) if (name !== 'constructor') names.add(name)
  return names
}
