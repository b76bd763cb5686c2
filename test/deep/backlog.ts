import { fileURLToPath } from 'node:url'
import { eventually, startProgramFile } from '../processes/program.ts'
import { type Mark, repeatedIds, SoakLog } from './soak-log.ts'

const programOf = (name: string) => fileURLToPath(new URL(`./programs/${name}.mjs`, import.meta.url))

/** Jobs that wait in a queue from its first move to its last, and run after that. What was sent is in the producer's own log. */
export class Backlog {
  readonly #path: string
  readonly #log: SoakLog

  constructor(path: string) {
    this.#path = path
    this.#log = new SoakLog(path)
  }

  async fill(url: string, count: number): Promise<void> {
    const producer = startProgramFile(programOf('backlog-producer'), { url, log: this.#path, count })
    await producer.line('filled')
    await producer.ended
  }

  get sent(): number {
    return this.#of('acked').length
  }

  /** Runs all of them. Only a standstill fails, however slow the machine is. */
  async run(url: string): Promise<void> {
    const worker = startProgramFile(programOf('backlog-worker'), { url, log: this.#path })
    await worker.line('working')
    for (let ended = 0; ended < this.sent; ended = this.#of('end').length) {
      await eventually(`more than ${ended} of ${this.sent} jobs end`, () => this.#of('end').length > ended)
    }
    await worker.kill()
  }

  /** What is not as it was sent, one line for each job. Nobody was killed while they ran, so that each of them ran once. */
  faults(): readonly string[] {
    const sent = new Map(this.#of('acked').map(({ id, detail }) => [id, detail]))
    const ran = new Map(this.#of('end').map(({ id, detail }) => [id, detail]))
    const places = new Map(this.#of('end').map(({ detail }, index) => [detail, index]))
    return [
      ...[...sent].filter(([id]) => !ran.has(id)).map(([id, detail]) => `${id} (${detail}) did not run`),
      ...[...ran].filter(([id, detail]) => sent.get(id) !== detail).map(([id, detail]) => `${id} ran as ${detail}`),
      ...repeatedIds(this.#of('end')).map((id) => `${id} ran twice`),
      ...this.#of('dead').map(({ id, detail }) => `${id} died: ${detail}`),
      ...[...places].filter(([detail, index]) => isEarly(detail, index, places)).map(([detail]) => `${detail} ran too early`),
    ]
  }

  #of(word: string): readonly Mark[] {
    return this.#log.read().filter((mark) => mark.word === word)
  }
}

/** Whether a step of a workflow ran before one that it waits for: the first is waited for by the second and third, those by the fourth. */
function isEarly(detail: string, index: number, places: ReadonlyMap<string, number>): boolean {
  const [workflow, place] = detail.split(':')
  const before = { 2: [1], 3: [1], 4: [2, 3] }[Number(place)] ?? []
  return before.some((each) => (places.get(`${workflow}:${each}`) ?? Number.POSITIVE_INFINITY) > index)
}

/**
 * Occurrences of a schedule of every ten seconds that did not run, or of which two jobs were settled, from the first that was seen to
 * the last.
 */
export function scheduleFaults(marks: readonly Mark[]): readonly string[] {
  const settled = new Set(marks.flatMap(({ word, id }) => (word === 'settled' ? [id] : [])))
  const ran = new Map<number, Set<string>>()
  for (const { word, id, detail } of marks) {
    if (word !== 'tick' || !settled.has(id)) continue
    const at = Number(detail)
    ran.set(at, new Set([...(ran.get(at) ?? []), id]))
  }
  const instants = [...ran.keys()].sort((a, b) => a - b)
  const missing = instants.flatMap((at, index) =>
    index > 0 && at - instants[index - 1]! !== 10_000 ? [`a gap before ${at}`] : [],
  )
  const twice = [...ran].filter(([, ids]) => ids.size > 1).map(([at, ids]) => `${at} ran as ${[...ids].join(' and ')}`)
  return instants.length === 0 ? ['it never ran'] : [...missing, ...twice]
}
