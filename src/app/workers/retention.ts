import { type Duration, parseDuration } from '../../core/time/duration.ts'
import type { Keep } from '../../definition/definition.ts'
import type { Registry } from '../../definition/registry.ts'
import type { Retention } from '../../worker/loop/maintenance.ts'

/** Options of `jobs.prune`. */
export interface PruneOptions {
  /** Delete all jobs that ended longer ago than this, regardless of `keep`. */
  readonly olderThan?: Duration
  /** Only count them. Reads all ended jobs. */
  readonly dryRun?: boolean
}

/** Keeps all jobs for this long, whatever their outcome. */
export function keptFor(olderThan: Duration): Retention {
  const ms = parseDuration(olderThan, 'olderThan')
  return { all: { succeeded: ms, dead: ms, cancelled: ms, skipped: ms }, byJob: new Map() }
}

export function retentionOf(registry: Registry, all: Keep): Retention {
  return { all, byJob: new Map(registry.definitions().map(({ job, fields }) => [job, fields.keep])) }
}

/** The retention of a definition takes precedence over that of the program. */
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
