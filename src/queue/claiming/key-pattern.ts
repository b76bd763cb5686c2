import { type Glob, glob } from '../../core/text/glob.ts'

/** Keys of jobs that pass all of these tests. It is data, so that it can cross into another thread. */
export type KeyPattern = readonly KeyTest[]

/** Passed by these names, and by keys that fit one of the globs. */
export interface KeyTest {
  readonly names: readonly string[]
  readonly globs: readonly string[]
  /** Keys that begin with it are apart: without it they are matched like all others, or they fit no glob at all. */
  readonly mark: string
  readonly marked: 'matched' | 'left out'
}

export function keyTest(pattern: KeyPattern): (job: string) => boolean {
  const tests = pattern.map(testOf)
  const [only] = tests
  return tests.length === 1 && only !== undefined ? only : (job) => tests.every((test) => test(job))
}

/** Keys between two texts, by their characters: `from` is among them, `to` is not. */
export interface KeyRange {
  readonly from: string
  readonly to: string
}

/** Ranges that all keys which pass are in, few of them; null where they may begin with anything. */
export function keyRanges(pattern: KeyPattern): readonly KeyRange[] | null {
  const all = pattern.map(rangesOf).filter((ranges) => ranges !== null)
  return all.reduce<readonly KeyRange[] | null>(
    (few, ranges) => (few !== null && few.length <= ranges.length ? few : ranges),
    null,
  )
}

const mostRanges = 16
/** Behind every other character, where texts are compared by their bytes. */
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
