import { isDeepStrictEqual } from 'node:util'
import { openMemory } from 'treadle/memory'
import { ManualClock } from 'treadle/testing'
import type { QueueBackend } from '../../../src/queue/contract/contract.ts'
import { shrunk } from '../../../src/testing/programs/shrinking.ts'
import type { ApiProgram } from './program.ts'
import { randomApiProgram } from './random.ts'
import { Hang, type Seen, World } from './world.ts'

/** An engine on which the programs of an application run. */
export interface ApplicationEngine {
  /** An empty queue and its clock. */
  open(): Promise<{ readonly backend: QueueBackend; readonly clock: ManualClock; close(): Promise<void> }>
}

export interface ApiDifference {
  readonly step: number
  readonly reference: unknown
  readonly other: unknown
  /** What both have seen just before. */
  readonly before: readonly unknown[]
}

const dayMs = 86_400_000
const operationsPerFullLook = 6

const memory: ApplicationEngine = {
  async open() {
    const clock = new ManualClock()
    const backend = openMemory({ clock })
    return { backend, clock, close: async () => await backend[Symbol.asyncDispose]() }
  },
}

/** Everything that a program sees on an engine, in order. */
export async function seenBy(program: ApiProgram, engine: ApplicationEngine): Promise<readonly Seen[]> {
  const { backend, clock, close } = await engine.open()
  // Programs begin at midnight, so that a cron expression means the same on every engine.
  await clock.advance(2 * dayMs - (clock.now() % dayMs))
  const world = new World(backend, clock, program)
  try {
    for (const [index, operation] of program.operations.entries()) {
      await world.perform(operation)
      await world.look((index + 1) % operationsPerFullLook === 0 ? 'all' : 'records')
    }
    await world.look('all')
  } catch (thrown) {
    if (!(thrown instanceof Hang)) throw thrown
    world.note({ hangs: thrown.message })
  } finally {
    await world.close()
    await close()
  }
  return world.seen
}

/** The first thing that the memory engine and another one show differently; null if there is none. */
export async function apiDifference(program: ApiProgram, engine: ApplicationEngine): Promise<ApiDifference | null> {
  const [expected, answered] = [await seenBy(program, memory), await seenBy(program, engine)]
  const length = Math.max(expected.length, answered.length)
  for (let index = 0; index < length; index++) {
    const [reference, other] = [expected[index], answered[index]]
    if (isDeepStrictEqual(reference?.what, other?.what)) continue
    const before = expected.slice(Math.max(index - 4, 0), index).map(({ what }) => what)
    return { step: (reference ?? other)?.step ?? 0, ...firstPart(reference?.what, other?.what), before }
  }
  return null
}

/** Runs programs until two engines disagree, and reduces that one. */
export async function findApiDifference(
  engine: ApplicationEngine,
  { programs, firstSeed }: { readonly programs: number; readonly firstSeed: number },
): Promise<{ readonly seed: number; readonly program: ApiProgram; readonly difference: ApiDifference } | null> {
  for (let seed = firstSeed; seed < firstSeed + programs; seed++) {
    const program = randomApiProgram(seed)
    if ((await apiDifference(program, engine)) === null) continue
    const smallest = await shrunk(program, async (candidate) => (await apiDifference(candidate, engine)) !== null, 300)
    const difference = await apiDifference(smallest, engine)
    if (difference === null) throw new Error(`The program of seed ${seed} does not behave the same each time`)
    return { seed, program: smallest, difference }
  }
  return null
}

/** Goes down to the part that differs, so that a person finds it. */
function firstPart(reference: unknown, other: unknown, path = ''): { readonly reference: unknown; readonly other: unknown } {
  if (isContainer(reference) && isContainer(other)) {
    for (const name of new Set([...Object.keys(reference), ...Object.keys(other)])) {
      const [one, two] = [Reflect.get(reference, name), Reflect.get(other, name)]
      if (!isDeepStrictEqual(one, two)) return firstPart(one, two, `${path}/${name}`)
    }
  }
  return { reference: { path, value: reference }, other: { path, value: other } }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
