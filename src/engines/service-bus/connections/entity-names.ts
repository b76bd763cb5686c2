import { digest } from '../../../core/text/digest.ts'

/** The default name of a queue's entity: entity names are at most 260 plain characters. */
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
  /** Highest first. */
  readonly levels: readonly number[]
}

/** Maps queues to entities: one for each queue, and another for each configured priority level. */
export class EntityNames {
  readonly #config: NamingOptions
  readonly #queues: Set<string>

  constructor(config: NamingOptions) {
    this.#config = config
    this.#queues = new Set(config.queues)
  }

  /** Also remembers the queue, so that a program knows the queues it has sent to. */
  of(queue: string, priority: number): string {
    this.#queues.add(queue)
    return this.#at(queue, this.#config.levels.find((level) => priority >= level) ?? null)
  }

  /** The entities of these queues, or of all known ones, grouped by level, highest priority first. */
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
