/** The method that words are passed on to. */
export const say: unique symbol = Symbol('say')

/** Something that is described word by word: `daily().weekdays()` is `daily` and then `weekdays`, each with its arguments. */
export interface Speaker {
  [say](word: string, args: readonly unknown[]): void
}

/**
 * A class to extend, whose methods are these words. Each passes its arguments on to `say`, and gives the object back for the next
 * word; what a word means is written in a table, and not in a method.
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
