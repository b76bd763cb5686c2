import { extentWith, noLog, type PlacedLogChunk } from '../../../queue/contract/stores/log-store.ts'
import type { StoredJob } from '../../../queue/rules/jobs/job.ts'
import type { MovedLogs } from '../../../queue/rules/transfer/moved-units.ts'
import { list } from './needs.ts'
import type { Op } from './places.ts'
import type { Rows } from './rows.ts'

/** The logs of jobs that leave or arrive. A unit that has read a list is refused if lines were added to it in the meantime. */
export class LoadedLogs implements MovedLogs {
  readonly #rows: Rows
  readonly #restored: { readonly id: string; readonly chunks: readonly PlacedLogChunk[] }[] = []

  constructor(rows: Rows) {
    this.#rows = rows
  }

  /** Reads the extent first: the commit compares it, and the list is never older than the extent. */
  of({ envelope: { id } }: StoredJob): readonly PlacedLogChunk[] {
    if (this.#rows.field('lx', id) === null) return []
    this.#rows.want([list(`log:${id}`)])
    return this.#rows.list(`log:${id}`).map(readChunk)
  }

  restore({ envelope: { id } }: StoredJob, chunks: readonly PlacedLogChunk[]): void {
    if (chunks.length > 0) this.#restored.push({ id, chunks })
  }

  get writes(): readonly Op[] {
    return this.#restored.flatMap(({ id, chunks }) => {
      const { last, lines, bytes } = chunks.reduce(extentWith, noLog)
      return [...chunks.map((chunk): Op => ['L', `log:${id}`, chunkText(chunk)]), ['S', 'lx', id, `${last}|${lines}|${bytes}`]]
    })
  }
}

/** Scripts write chunks in the same format. */
function chunkText({ attempt, first, last, bytes, text }: PlacedLogChunk): string {
  return `${attempt}|${first}|${last}|${bytes}|${text}`
}

export function readChunk(stored: string): PlacedLogChunk {
  const parts = stored.split('|', 4)
  const [attempt, first, last, bytes] = parts.map(Number) as [number, number, number, number]
  return { attempt, first, last, bytes, text: stored.slice(parts.join('|').length + 1) }
}
