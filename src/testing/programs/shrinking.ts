/** A program of operations. Its other members say in which circumstances it runs. */
interface Shrinkable {
  readonly operations: readonly object[]
}

/**
 * Searches for the smallest program that still fails, by removing operations that do not matter and parts of the others that do
 * not matter. Calls `fails` at most `mostTries` times.
 */
export async function shrunk<Program extends Shrinkable>(
  program: Program,
  fails: (candidate: Program) => Promise<boolean>,
  mostTries = 600,
): Promise<Program> {
  const search = new Search(program, fails, mostTries)
  await search.run()
  return search.smallest
}

class Search<Program extends Shrinkable> {
  smallest: Program
  readonly #fails: (candidate: Program) => Promise<boolean>
  #triesLeft: number

  constructor(program: Program, fails: (candidate: Program) => Promise<boolean>, mostTries: number) {
    this.smallest = program
    this.#fails = fails
    this.#triesLeft = mostTries
  }

  async run(): Promise<void> {
    for (let before = ''; before !== JSON.stringify(this.smallest) && this.#triesLeft > 0; ) {
      before = JSON.stringify(this.smallest)
      await this.#dropOperations()
      await this.#simplifyAll()
    }
  }

  /** Removes many at once first, because most of them do not matter. */
  async #dropOperations(): Promise<void> {
    for (let size = this.smallest.operations.length; size >= 1; size = Math.floor(size / 2)) {
      for (let first = this.smallest.operations.length - size; first >= 0; first -= size) {
        const operations = this.smallest.operations.toSpliced(first, size)
        await this.#try({ ...this.smallest, operations })
      }
    }
  }

  async #simplifyAll(): Promise<void> {
    await this.#simplify(
      () => circumstancesOf(this.smallest),
      (circumstances) => ({ ...circumstances, operations: this.smallest.operations }) as Program,
    )
    for (let index = this.smallest.operations.length - 1; index >= 0; index--) {
      await this.#simplify(
        () => this.smallest.operations[index] as object,
        (operation) => ({ ...this.smallest, operations: this.smallest.operations.with(index, operation) }),
      )
    }
  }

  /** Tries simpler forms of one part until none of them still fails. */
  async #simplify<Part extends object>(current: () => Part, withPart: (part: Part) => Program): Promise<void> {
    for (let isSimpler = true; isSimpler; ) {
      isSimpler = false
      for (const part of simplerObjects(current())) {
        isSimpler = await this.#try(withPart(part as Part))
        if (isSimpler || this.#triesLeft <= 0) break
      }
    }
  }

  async #try(candidate: Program): Promise<boolean> {
    if (this.#triesLeft <= 0) return false
    this.#triesLeft--
    if (!(await this.#fails(candidate))) return false
    this.smallest = candidate
    return true
  }
}

function circumstancesOf(program: Shrinkable): object {
  const { operations: _, ...circumstances } = program
  return circumstances
}

/** Variants without one of the members, or with a simpler one. What kind of operation or fact it is stays the same. */
function simplerObjects(value: object): readonly object[] {
  const members = Object.entries(value).filter(([name]) => name !== 'op' && name !== 'kind')
  const without = members.map(([name]) => Object.fromEntries(Object.entries(value).filter(([other]) => other !== name)))
  const simpler = members.flatMap(([name, member]) => simplerValues(member).map((each) => ({ ...value, [name]: each })))
  return [...without, ...simpler]
}

function simplerValues(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) {
    const without = value.map((_, index) => value.toSpliced(index, 1))
    const simpler = value.flatMap((item, index) => simplerValues(item).map((each) => value.with(index, each)))
    return [...without, ...simpler]
  }
  if (typeof value === 'object' && value !== null) return simplerObjects(value)
  if (typeof value === 'number' && value !== 0) return Math.abs(value) > 1 ? [0, Math.trunc(value / 2)] : [0]
  return []
}
