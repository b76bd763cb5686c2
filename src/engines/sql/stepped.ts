import type { Steps } from '../../core/answer.ts'

/** The same methods, and nested objects of methods, written as steps, so that they run both synchronously and asynchronously. */
export type Stepped<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (...args: infer Args) => infer Given
    ? (...args: Args) => Steps<Awaited<Given>>
    : Stepped<Part[Name]>
}
