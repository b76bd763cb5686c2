import type { Steps } from '../../core/answer.ts'

/** The same methods, and further objects of them, written as steps: for whoever can wait for answers, and for whoever cannot. */
export type Stepped<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (...args: infer Args) => infer Given
    ? (...args: Args) => Steps<Awaited<Given>>
    : Stepped<Part[Name]>
}
