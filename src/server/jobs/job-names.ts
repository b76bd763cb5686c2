import { type KeyPattern, keyTest } from '../../queue/claiming/key-pattern.ts'
import type { JobCount, JobStore } from '../../queue/contract/store.ts'

/** Which jobs somebody wants: these names, or all whose keys pass. */
export interface NameChoice {
  readonly names: readonly string[] | null
  readonly keys: KeyPattern
}

/** What there is of one name. */
interface Standing {
  readonly isReady: boolean
  /** Another text when something may have become claimable, now or later. */
  readonly text: string
}

/** The names of all jobs that could still run, for backends whose claims must name their jobs while other programs ask for patterns. */
export class JobNames {
  readonly #store: Pick<JobStore, 'counts'>
  #standings = new Map<string, Standing>()
  /** What this program has stored since the look that is under way began: it may not be counted there. */
  #touched = new Set<string>()
  #version = 0
  #refreshing: Promise<readonly string[]> | undefined

  constructor(store: Pick<JobStore, 'counts'>) {
    this.#store = store
  }

  /** Another number whenever there are other names. */
  get version(): number {
    return this.#version
  }

  /** This program has stored a job of this name. */
  touch(name: string): void {
    this.#touched.add(name)
    if (this.#standings.has(name)) return
    this.#standings.set(name, { isReady: true, text: '' })
    this.#version++
  }

  matching({ names, keys }: NameChoice): readonly string[] {
    return names ?? [...this.#standings.keys()].filter(keyTest(keys))
  }

  /** Looks what there is; those who ask at the same time share a look. Gives the names of which something may be claimable that was not. */
  refresh(): Promise<readonly string[]> {
    this.#refreshing ??= this.#look().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #look(): Promise<readonly string[]> {
    const before = this.#touched
    this.#touched = new Set()
    const found = standingsOf(await this.#store.counts())
    const news = new Set([...before, ...this.#touched])
    for (const [name, { isReady, text }] of found) {
      if (isReady || this.#standings.get(name)?.text !== text) news.add(name)
    }
    for (const name of this.#touched) if (!found.has(name)) found.set(name, { isReady: true, text: '' })
    const isSame = found.size === this.#standings.size && [...found.keys()].every((name) => this.#standings.has(name))
    if (!isSame) this.#version++
    this.#standings = found
    return [...news]
  }
}

/** Names of which everything has ended are none: there may be any number of them. */
function standingsOf(counts: readonly JobCount[]): Map<string, Standing> {
  const found = new Map<string, Standing>()
  for (const { job, counts: each } of counts) {
    const { ready, scheduled, running, blocked } = each
    if (ready + scheduled + running + blocked === 0) continue
    const text = `${ready} ${scheduled} `
    const known = found.get(job)
    if (known === undefined) found.set(job, { isReady: ready > 0, text })
    else found.set(job, { isReady: known.isReady || ready > 0, text: known.text + text })
  }
  return found
}
