import { digest } from '../../../core/text/digest.ts'

/** What a queue is called in the namespace, where a program does not say otherwise: an entity's name is 260 plain characters at most. */
export function plainEntityName(prefix: string, queue: string): string {
  const plain = queue.replaceAll(/[^\w.-]/g, '_').replace(/^[^A-Za-z0-9]+/, '')
  const name =
    plain === queue && plain.length <= longestName ? plain : `${plain.slice(0, longestName) || 'queue'}-${digest(queue)}`
  return prefix + name.replace(/[^A-Za-z0-9]+$/, '')
}

const longestName = 200

export interface NamingOptions {
  readonly queues: readonly string[]
  readonly entityName: (queue: string) => string
  /** The highest first. */
  readonly levels: readonly number[]
}

/** Which entities the jobs of queues are in: one for each queue, and another one for each level of priority that was asked for. */
export class EntityNames {
  readonly #config: NamingOptions
  readonly #queues: Set<string>

  constructor(config: NamingOptions) {
    this.#config = config
    this.#queues = new Set(config.queues)
  }

  /** A program that sends to a queue knows of it from then on. */
  of(queue: string, priority: number): string {
    this.#queues.add(queue)
    return this.#at(queue, this.#config.levels.find((level) => priority >= level) ?? null)
  }

  /** The entities of these queues, or of all that are known, level by level: those of the highest priority come first. */
  byLevel(queues: readonly string[] | null): readonly (readonly string[])[] {
    const wanted = [...(queues ?? this.#queues)]
    return [...this.#config.levels, null].map((level) => [...new Set(wanted.map((queue) => this.#at(queue, level)))])
  }

  get known(): readonly string[] {
    return [...new Set(this.byLevel(null).flat())]
  }

  #at(queue: string, level: number | null): string {
    const name = this.#config.entityName(queue)
    return level === null ? name : `${name}.p${level}`
  }
}
