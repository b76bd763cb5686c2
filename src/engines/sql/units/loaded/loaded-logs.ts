import type { PlacedLogChunk } from '../../../../queue/contract/stores/log-store.ts'
import type { StoredJob } from '../../../../queue/rules/jobs/job.ts'
import type { MovedLogs } from '../../../../queue/rules/transfer/moved-units.ts'
import { logRowOf } from '../../rows/log-row.ts'
import type { LoadedRows } from '../reading/loaded-rows.ts'

/** The logs of jobs that leave or arrive. */
export class LoadedLogs implements MovedLogs {
  readonly #rows: LoadedRows
  readonly restored: ReturnType<typeof logRowOf>[] = []

  constructor(rows: LoadedRows) {
    this.#rows = rows
  }

  of({ envelope: { id } }: StoredJob): readonly PlacedLogChunk[] {
    return this.#rows.get('log', id)
  }

  restore({ envelope: { id } }: StoredJob, chunks: readonly PlacedLogChunk[]): void {
    for (const chunk of chunks) this.restored.push(logRowOf(id, chunk))
  }
}
