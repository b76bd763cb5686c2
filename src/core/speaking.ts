/** The method that receives all calls. */
export const say: unique symbol = Symbol('say')

/** An object configured by chained calls: `daily().weekdays()` is `daily` and then `weekdays`, each with its arguments. */
export interface Speaker {
  [say](word: string, args: readonly unknown[]): void
}

/**
 * Creates a base class with these methods. Each passes its arguments to `say` and returns the object for chaining; what a method
 * means is defined in a table instead of in the method itself.
 */
export function speaking(words: readonly string[]): abstract new () => Speaker {
  abstract class Speaking implements Speaker {
    abstract [say](word: string, args: readonly unknown[]): void
  }
  for (const word of words) {
    const { [word]: method } = {
      [word](this: Speaking, ...args: readonly unknown[]): Speaking {
        this[say](word, args)
        return this
      },
    }
    Object.defineProperty(Speaking.prototype, word, { value: method, configurable: true, writable: true })
  }
  return Speaking
}
