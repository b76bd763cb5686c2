import type { Answer } from '../../core/answer.ts'

/** The same methods, and nested objects of methods, which may answer at once. */
export type Immediate<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends ((...args: infer Args) => infer Given) | undefined
    ? (...args: Args) => Answer<Awaited<Given>>
    : Immediate<Part[Name]>
}

type Call = (...args: unknown[]) => unknown

/** Makes each method check first that the backend is open, and answer with a promise. */
export function guarded<Part extends object>(part: Immediate<Part>, checkOpen: () => void): Part {
  const made: Record<string, unknown> = {}
  for (const [name, member] of membersOf(part)) {
    if (typeof member === 'object' && member !== null) made[name] = guarded(member, checkOpen)
    else if (typeof member === 'function')
      made[name] = async (...args: unknown[]) => {
        checkOpen()
        return (member as Call).apply(part, args)
      }
  }
  return made as Part
}

/** Own members, and methods of the class. */
function membersOf(part: object): readonly (readonly [string, unknown])[] {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(part) as object))
  const own = methods.filter(([name]) => name !== 'constructor' && !(name in Object.prototype))
  return [...Object.entries(part), ...own.map(([name, { value }]) => [name, value] as const)]
}
