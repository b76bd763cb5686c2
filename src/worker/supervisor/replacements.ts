import type { Child } from './child.ts'
import type { Tell } from './events.ts'
import type { ChildFailure } from './messages.ts'
import type { Wear } from './wear.ts'

export interface Replacement {
  readonly child: Child
  readonly why: Wear | 'roll'
}

export type Replaced = { readonly done: true } | { readonly done: false; readonly failure: ChildFailure | null }

export interface ReplacementsDeps {
  /** Resolves when the old process has ended, or when the new one could not start. */
  readonly replace: (replacement: Replacement) => Promise<Replaced>
  readonly isCurrent: (child: Child) => boolean
  readonly tell: Tell
}

/** Replaces processes one after the other, so that there is never more than one extra process. */
export class Replacements {
  readonly #deps: ReplacementsDeps
  #waiting: Replacement[] = []
  #underWay: Child | null = null
  #isRolling = false
  #rolled = 0

  constructor(deps: ReplacementsDeps) {
    this.#deps = deps
  }

  has(child: Child): boolean {
    return this.#underWay === child || this.#waiting.some((each) => each.child === child)
  }

  add(child: Child, why: Wear): Promise<void> {
    if (!this.has(child)) this.#waiting.push({ child, why })
    return this.#work()
  }

  /** Replaces all of these. Overrides earlier requests for them. */
  roll(children: readonly Child[]): Promise<void> {
    const others = this.#waiting.filter(({ child }) => !children.includes(child))
    this.#waiting = [...others, ...children.map((child) => ({ child, why: 'roll' as const }))]
    this.#deps.tell('roll:started', { children: children.length })
    this.#isRolling = true
    this.#rolled = 0
    return this.#work()
  }

  clear(): void {
    this.#waiting = []
    this.#isRolling = false
  }

  async #work(): Promise<void> {
    if (this.#underWay !== null) return
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (!this.#deps.isCurrent(next.child)) continue
      this.#underWay = next.child
      const replaced = await this.#deps.replace(next)
      this.#underWay = null
      if (next.why === 'roll') this.#noteRolled(replaced)
    }
    if (this.#isRolling) this.#deps.tell('roll:ended', { replaced: this.#rolled })
    this.#isRolling = false
  }

  /** If a process cannot start in one place, it will not start in the next. */
  #noteRolled(replaced: Replaced): void {
    if (replaced.done) this.#rolled++
    else if (this.#isRolling) {
      this.#deps.tell('roll:failed', { replaced: this.#rolled, failure: replaced.failure })
      this.#isRolling = false
      this.#waiting = this.#waiting.filter(({ why }) => why !== 'roll')
    }
  }
}
