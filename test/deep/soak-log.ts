import { closeSync, existsSync, openSync, readSync } from 'node:fs'

export interface Mark {
  readonly word: string
  readonly id: string
  readonly pid: number
  readonly at: number
  /** The group of a run, or the reason of a death. */
  readonly detail: string
}

/** What several processes append to one file, read on from where the last look ended. */
export class SoakLog {
  readonly marks: Mark[] = []
  /** The soak asks five times a second for how many there are: the ids are kept as they are read. */
  readonly #ids = new Map<string, Set<string>>()
  readonly #path: string
  readonly #buffer = Buffer.alloc(1 << 20)
  #offset = 0
  #rest = ''

  constructor(path: string) {
    this.#path = path
  }

  read(): readonly Mark[] {
    if (!existsSync(this.#path)) return this.marks
    const file = openSync(this.#path, 'r')
    try {
      for (;;) {
        const length = readSync(file, this.#buffer, 0, this.#buffer.length, this.#offset)
        if (length === 0) return this.marks
        this.#offset += length
        const lines = (this.#rest + this.#buffer.toString('latin1', 0, length)).split('\n')
        this.#rest = lines.pop() as string
        for (const line of lines) this.#add(parseMark(line))
      }
    } finally {
      closeSync(file)
    }
  }

  idsOf(word: string): ReadonlySet<string> {
    this.read()
    return this.#idsOf(word)
  }

  #add(mark: Mark): void {
    this.marks.push(mark)
    this.#idsOf(mark.word).add(mark.id)
  }

  #idsOf(word: string): Set<string> {
    const ids = this.#ids.get(word) ?? new Set()
    this.#ids.set(word, ids)
    return ids
  }
}

function parseMark(line: string): Mark {
  const [word, id, pid, at, detail] = line.split(' ') as [string, string, string, string, string]
  return { word, id, pid: Number(pid), at: Number(at), detail }
}

/** The ids that these marks name more than once. */
export function repeatedIds(marks: readonly Mark[]): readonly string[] {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const { id } of marks) (seen.has(id) ? repeated : seen).add(id)
  return [...repeated]
}

/** The marks of runs whose jobs belong to a group. */
export function marksByGroup(marks: readonly Mark[]): ReadonlyMap<string, readonly Mark[]> {
  const groups = new Map<string, Mark[]>()
  for (const mark of marks) {
    if (mark.detail === '' || (mark.word !== 'begin' && mark.word !== 'end')) continue
    const group = groups.get(mark.detail)
    if (group === undefined) groups.set(mark.detail, [mark])
    else group.push(mark)
  }
  return groups
}

/** How many runs of these marks were under way at once. `begin` is written after a run has begun and `end` before it is over: what overlaps here did overlap. */
export function mostAtOnce(marks: readonly Mark[]): number {
  const changes: [at: number, change: number][] = []
  const open = new Map<string, number>()
  for (const { word, id, pid, at } of marks) {
    const run = `${id} ${pid}`
    if (word === 'begin') open.set(run, at)
    const begunAt = word === 'end' ? open.get(run) : undefined
    if (begunAt === undefined) continue
    changes.push([begunAt, 1], [at, -1])
    open.delete(run)
  }
  changes.sort(([a, one], [b, other]) => a - b || one - other)
  let running = 0
  let most = 0
  for (const [, change] of changes) {
    running += change
    most = Math.max(most, running)
  }
  return most
}
