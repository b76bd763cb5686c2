import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { openMemory } from '../../engines/memory/index.ts'
import type { QueueBackend, WholeBackend } from '../../queue/contract/contract.ts'
import type { ManualClock } from '../manual-clock.ts'
import { perform } from '../programs/performing.ts'
import type { Operation, OperationName, Program } from '../programs/program.ts'
import { type Extent, snapshot } from '../programs/snapshot.ts'
import { Stage } from '../programs/stage.ts'
import { comparable } from './allowances.ts'

/** An engine that is compared with the reference. */
export interface ComparedEngine {
  /** An empty queue and its clock. `close` is called when the program has ended. */
  open(): Promise<OpenedEngine>
}

/** An engine that is open for one program of the differential test. */
export interface OpenedEngine {
  /** Must provide all parts of the contract that a program may call. */
  readonly backend: QueueBackend
  readonly clock: ManualClock
  close(): Promise<void>
}

/** A difference between the answers of two engines. */
export interface Difference {
  /** Number of operations executed before it. */
  readonly step: number
  readonly op: OperationName | 'snapshot'
  readonly reference: unknown
  readonly other: unknown
}

/** The range of jobs and names that programs of `randomProgram` use. */
const extent: Extent = { jobs: 64, names: 3, groups: 3, roots: 3, owners: 3, schedules: 3 }

const operationsPerSnapshot = 6

/**
 * Runs a program on the memory engine and on another one, and compares each answer and, now and then, everything that is visible.
 * Null if there is no difference.
 */
export async function difference(program: Program, engine: ComparedEngine): Promise<Difference | null> {
  const run = await DifferentialRun.open(engine, program)
  try {
    for (const operation of program.operations) {
      const found = await run.step(operation)
      if (found !== null) return found
    }
    return await run.look()
  } finally {
    await run.close()
  }
}

/** Two engines side by side. */
export class DifferentialRun {
  readonly reference: Stage
  readonly #other: Stage
  readonly #close: () => Promise<void>
  #steps = 0

  static async open(engine: ComparedEngine, { limits }: Pick<Program, 'limits'>): Promise<DifferentialRun> {
    const { backend, clock, close } = await engine.open()
    const reference = openMemory({ clock })
    const closeBoth = async () => {
      await reference[Symbol.asyncDispose]()
      await close()
    }
    return new DifferentialRun(new Stage(reference, clock, limits), new Stage(wholeOf(backend), clock, limits), closeBoth)
  }

  private constructor(reference: Stage, other: Stage, close: () => Promise<void>) {
    this.reference = reference
    this.#other = other
    this.#close = close
  }

  async step(operation: Operation): Promise<Difference | null> {
    this.#steps++
    if (operation.op === 'advance') await this.reference.clock.advance(operation.ms ?? 1_000)
    const expected = await perform(this.reference, operation)
    const answer = await perform(this.#other, operation)
    const found = this.#compare(operation.op, expected, answer)
    return found ?? (this.#steps % operationsPerSnapshot === 0 ? this.look() : null)
  }

  /** Compares everything that is visible. */
  async look(): Promise<Difference | null> {
    return this.#compare('snapshot', await snapshot(this.reference, extent), await snapshot(this.#other, extent))
  }

  close(): Promise<void> {
    return this.#close()
  }

  #compare(op: OperationName | 'snapshot', expected: unknown, answer: unknown): Difference | null {
    const [reference, other] = comparable(op, expected, answer)
    return isDeepStrictEqual(reference, other) ? null : { step: this.#steps, op, reference, other }
  }
}

function wholeOf(backend: QueueBackend): WholeBackend {
  const { store, coordination } = backend
  assert.ok(store !== undefined && coordination !== undefined, 'programs need a backend with a store and with coordination')
  return backend as WholeBackend
}
