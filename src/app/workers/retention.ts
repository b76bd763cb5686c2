import { type Duration, parseDuration } from '../../core/time/duration.ts'
import type { Keep } from '../../definition/definition.ts'
import type { Registry } from '../../definition/registry.ts'
import type { Retention } from '../../worker/loop/maintenance.ts'

/** Options of `jobs.prune`. */
export interface PruneOptions {
  /** All jobs that ended longer ago than this, whatever `keep` says of them. */
  readonly olderThan?: Duration
}

/** All outcomes of all jobs are kept for this long. */
export function keptFor(olderThan: Duration): Retention {
  const ms = parseDuration(olderThan, 'olderThan')
  return { all: { succeeded: ms, dead: ms, cancelled: ms, skipped: ms }, byJob: new Map() }
}

export function retentionOf(registry: Registry, all: Keep): Retention {
  return { all, byJob: new Map(registry.definitions().map(({ job, fields }) => [job, fields.keep])) }
}

/** What a definition says of keeping goes before what the program says. */
export function keepOf(registry: Registry, keep: Keep): (job: string) => Keep {
  const known = new Map<string, Keep>()
  return (job) => {
    let found = known.get(job)
    if (found === undefined) {
      found = { ...keep, ...registry.find(job)?.fields.keep }
      known.set(job, found)
    }
    return found
  }
}
