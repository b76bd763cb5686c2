import { describe, expect, it } from 'vitest'
import type { JobContext } from '../../src/definition/context.ts'
import { handlerFunction } from '../../src/definition/handler.ts'

const context = {} as JobContext<never>

describe('a handler', () => {
  it('J10, J12: is a function that gets the payload and the context', async () => {
    const handle = handlerFunction('double', async (payload: number, given: JobContext<number>) => [payload * 2, given])
    expect(await handle(4, context)).toEqual([8, context])
  })

  it('J10: is a function of the old kind too', () => {
    function old(payload: number) {
      return payload + 1
    }
    expect(handlerFunction('old', old)(1, context)).toBe(2)
  })

  it('J10, J11: is a class with a static handle, called on the class', () => {
    // biome-ignore lint/complexity/noStaticOnlyClass: the form that some frameworks ask for
    class Greeter {
      static greeting = 'hello'
      static handle(name: string) {
        // biome-ignore lint/complexity/noThisInStatic: that `this` is the class is what is shown here
        return `${this.greeting} ${name}`
      }
    }
    expect(handlerFunction('greet', Greeter)('ada', context)).toBe('hello ada')
  })

  it('J10, J11: is a class with handle on its instances, of which each run gets its own', () => {
    let made = 0
    class Counter {
      readonly number = ++made
      handle(name: string) {
        return `${name} ${this.number}`
      }
    }
    const handle = handlerFunction('count', Counter)
    expect(made).toBe(0)
    expect([handle('a', context), handle('b', context)]).toEqual(['a 1', 'b 2'])
  })

  it('J10: is found on the class before it is looked for on an instance', () => {
    class Both {
      static handle() {
        return 'static'
      }
      handle() {
        return 'instance'
      }
    }
    expect(handlerFunction('both', Both)({}, context)).toBe('static')
  })

  it('is inherited', () => {
    class Base {
      handle() {
        return 'base'
      }
    }
    class Derived extends Base {}
    expect(handlerFunction('derived', Derived)({}, context)).toBe('base')
  })

  it('J10: is refused as a class without handle, by the name of the class', () => {
    class Nothing {
      run() {}
    }
    expect(() => handlerFunction('nothing', Nothing as never)).toThrow(
      expect.objectContaining({
        code: 'HANDLER_INVALID',
        message: expect.stringContaining('class Nothing without a "handle" method'),
      }),
    )
  })

  it.each([[undefined], [null], ['a text'], [7], [{ handle() {} }], [[]]])('is refused when it is %j', (handler) => {
    expect(() => handlerFunction('wrong', handler as never)).toThrow(expect.objectContaining({ code: 'HANDLER_INVALID' }))
  })
})
