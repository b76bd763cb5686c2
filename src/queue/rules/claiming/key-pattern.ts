import { type Glob, glob } from '../../../core/text/glob.ts'

/** Matches job keys that pass all of these tests. Plain data, so that it can be sent to another thread. */
export type KeyPattern = readonly KeyTest[]

/** Passed by these names, and by keys that match one of the globs. */
export interface KeyTest {
  readonly names: readonly string[]
  readonly globs: readonly string[]
  /** Prefix of keys that are treated separately: they are matched without the prefix, or they match no glob at all. */
  readonly mark: string
  readonly marked: 'matched' | 'left out'
}

export function keyTest(pattern: KeyPattern): (job: string) => boolean {
  const tests = pattern.map(testOf)
  const [only] = tests
  return tests.length === 1 && only !== undefined ? only : (job) => tests.every((test) => test(job))
}

/** Keys in a range, compared by their characters: `from` is included, `to` is not. */
export interface KeyRange {
  readonly from: string
  readonly to: string
}

/** A small set of ranges that covers every matching key; null if matching keys may begin with anything. */
export function keyRanges(pattern: KeyPattern): readonly KeyRange[] | null {
  const all = pattern.map(rangesOf).filter((ranges) => ranges !== null)
  return all.reduce<readonly KeyRange[] | null>(
    (few, ranges) => (few !== null && few.length <= ranges.length ? few : ranges),
    null,
  )
}

const mostRanges = 16
/** Sorts after every other character when texts are compared by bytes. */
const lastCharacter = '\u{10FFFF}'

function testOf({ names, globs, mark, marked }: KeyTest): (job: string) => boolean {
  const named = new Set(names)
  const tests: readonly Glob[] = globs.map(glob)
  const fits = (text: string) => tests.some((test) => test(text))
  return (job) => {
    if (named.has(job)) return true
    if (!job.startsWith(mark)) return fits(job)
    return marked === 'matched' && fits(job.slice(mark.length))
  }
}

function rangesOf({ names, globs, mark, marked }: KeyTest): readonly KeyRange[] | null {
  const begins = globs.map((text) => text.split(/[*?[\0]/)[0] as string)
  if (begins.includes('') || names.length + 2 * begins.length > mostRanges) return null
  const all = marked === 'matched' ? begins.flatMap((text) => [text, mark + text]) : begins
  return [
    ...names.map((name) => ({ from: name, to: `${name}\u0001` })),
    ...all.map((text) => ({ from: text, to: text + lastCharacter })),
  ]
}
