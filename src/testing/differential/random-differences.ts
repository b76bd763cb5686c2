import type { Operation, Program } from '../programs/program.ts'
import { RandomProgram, type RandomProgramOptions } from '../programs/random/random-program.ts'
import { shrunk } from '../programs/shrinking.ts'
import { type ComparedEngine, type Difference, DifferentialRun, difference } from './differential.ts'

/** How many random programs to compare, and the seed to start with. */
export interface RandomDifferencesOptions extends Omit<RandomProgramOptions, 'seed'> {
  readonly programs: number
  /** The seed of the first program; each further program uses the next one. Defaults to 1. */
  readonly firstSeed?: number
}

/** A random program on which an engine disagrees with the reference. */
export interface FoundDifference {
  readonly seed: number
  /** The smallest program found that shows a difference. */
  readonly program: Program
  readonly difference: Difference
}

/** The first random program on which an engine differs from the memory engine, shrunk; null if there is none. */
export async function findDifference(
  engine: ComparedEngine,
  { programs, firstSeed = 1, ...options }: RandomDifferencesOptions,
): Promise<FoundDifference | null> {
  for (let seed = firstSeed; seed < firstSeed + programs; seed++) {
    const found = await runRandom(engine, { seed, ...options })
    if (found !== null) return small(engine, seed, found)
  }
  return null
}

interface Found {
  readonly program: Program
  readonly difference: Difference
}

async function runRandom(engine: ComparedEngine, options: RandomProgramOptions): Promise<Found | null> {
  const random = new RandomProgram(options)
  const limits = random.limits === undefined ? {} : { limits: random.limits }
  const operations: Operation[] = []
  const run = await DifferentialRun.open(engine, limits)
  try {
    while (operations.length < random.length) {
      const operation = random.next(await run.reference.backend.store.list({ limit: 1_000 }))
      operations.push(operation)
      const found = await run.step(operation)
      if (found !== null) return { program: { ...limits, operations }, difference: found }
    }
    const found = await run.look()
    return found === null ? null : { program: { ...limits, operations }, difference: found }
  } finally {
    await run.close()
  }
}

async function small(engine: ComparedEngine, seed: number, { program, difference: first }: Found): Promise<FoundDifference> {
  const smallest = await shrunk(program, async (candidate) => (await difference(candidate, engine)) !== null)
  return { seed, program: smallest, difference: (await difference(smallest, engine)) ?? first }
}

/** A description for a test failure: the program can be pasted into a test that runs it again. */
export function differenceText({ seed, program, difference: { step, op, reference, other } }: FoundDifference): string {
  return [
    `The engines disagree (seed ${seed}), after ${step} operations, in the answer to "${op}".`,
    `The smallest program: ${JSON.stringify(program)}`,
    `The reference: ${JSON.stringify(differing(reference, other))}`,
    `The other one: ${JSON.stringify(differing(other, reference))}`,
  ].join('\n')
}

/** Only the members that differ, because records have many. */
function differing(one: unknown, other: unknown): unknown {
  if (JSON.stringify(one) === JSON.stringify(other)) return undefined
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length)
    return one.map((item, index) => differing(item, other[index]) ?? '=')
  if (isObject(one) && isObject(other)) {
    return Object.fromEntries(Object.entries(one).map(([name, value]) => [name, differing(value, other[name])]))
  }
  return one ?? null
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
