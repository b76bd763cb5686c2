import type { JobCount, JobStore } from '../../backends/store.ts'

/** What there is of one name: another text when something may have become claimable, now or later. */
interface Standing {
  readonly isReady: boolean
  readonly text: string
  /** When it was last seen to change. */
  readonly tick: number
}

/** Which jobs somebody wants: these names, or all that pass the test. */
export interface NameChoice {
  readonly names: readonly string[] | null
  readonly test: (name: string) => boolean
}

/** The names of all jobs that the queue holds: a claim asks for names, and other programs ask for patterns. */
export class JobNames {
  readonly #store: Pick<JobStore, 'counts'>
  #standings = new Map<string, Standing>()
  #version = 0
  #tick = 0
  #refreshing: Promise<void> | undefined

  constructor(store: Pick<JobStore, 'counts'>) {
    this.#store = store
  }

  /** Another number whenever there are other names. */
  get version(): number {
    return this.#version
  }

  /** Rises whenever something changes. */
  get tick(): number {
    return this.#tick
  }

  /** This program has stored a job of this name. */
  touch(name: string): void {
    if (!this.#standings.has(name)) this.#version++
    this.#standings.set(name, { isReady: true, text: '', tick: ++this.#tick })
  }

  matching({ names, test }: NameChoice): readonly string[] {
    return names ?? [...this.#standings.keys()].filter(test)
  }

  /** Whether a job of these names was ready at the last look, or anything about them has changed since this tick. */
  isPromising(names: readonly string[], sinceTick: number): boolean {
    return names.some((name) => {
      const standing = this.#standings.get(name)
      return standing !== undefined && (standing.isReady || standing.tick > sinceTick)
    })
  }

  /** Looks what there is; those who ask at the same time share a look. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#look().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #look(): Promise<void> {
    const since = this.#tick
    const found = standingsOf(await this.#store.counts())
    const standings = new Map<string, Standing>()
    for (const [name, { isReady, text }] of found) {
      const known = this.#standings.get(name)
      standings.set(name, known?.text === text ? { ...known, isReady } : { isReady, text, tick: this.#tick + 1 })
    }
    // What this program stored while it looked may not be counted yet.
    for (const [name, standing] of this.#standings) {
      if (standing.tick > since) standings.set(name, standing)
    }
    const isSame = standings.size === this.#standings.size && [...standings.keys()].every((name) => this.#standings.has(name))
    if (!isSame) this.#version++
    this.#tick++
    this.#standings = standings
  }
}

function standingsOf(counts: readonly JobCount[]): ReadonlyMap<string, Pick<Standing, 'isReady' | 'text'>> {
  const found = new Map<string, { isReady: boolean; text: string }>()
  for (const { job, counts: each } of counts) {
    const text = `${each.ready} ${each.scheduled} `
    const known = found.get(job)
    if (known === undefined) found.set(job, { isReady: each.ready > 0, text })
    else found.set(job, { isReady: known.isReady || each.ready > 0, text: known.text + text })
  }
  return found
}
