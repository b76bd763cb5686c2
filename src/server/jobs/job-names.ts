import type { JobCount, JobStore } from '../../queue/contract/store.ts'
import { type KeyPattern, keyTest } from '../../queue/rules/claiming/key-pattern.ts'

/** A choice of jobs: these names, or all whose keys match. */
export interface NameChoice {
  readonly names: readonly string[] | null
  readonly keys: KeyPattern
}

/** The state of the jobs of one name. */
interface Standing {
  readonly isReady: boolean
  /** Changes when a job may have become claimable, now or later. */
  readonly text: string
}

/**
 * The names of all jobs that could still run. Needed for backends whose claims must name their jobs, because clients ask for
 * patterns.
 */
export class JobNames {
  readonly #store: Pick<JobStore, 'counts'>
  #standings = new Map<string, Standing>()
  /** Names of jobs that this program has stored since the current refresh began: its counts may not include them. */
  #touched = new Set<string>()
  #version = 0
  #refreshing: Promise<readonly string[]> | undefined

  constructor(store: Pick<JobStore, 'counts'>) {
    this.#store = store
  }

  /** Changes whenever the set of names changes. */
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

  /** Reads the counts; concurrent calls share one read. Returns the names whose jobs may have become claimable. */
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

/** Leaves out names whose jobs have all ended: there may be any number of them. */
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
