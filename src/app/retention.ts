import type { Keep } from '../definition/definition.ts'
import type { Registry } from '../definition/registry.ts'
import type { Retention } from '../worker/maintenance.ts'

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
