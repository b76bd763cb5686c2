/**
 * What a rule may need, and the name to find it by: a job, its body (identity, payload, signature and progress), its result or its
 * log by id; the open edges to a job; all edges of a job, those it still waits for, and those to jobs it stands in for; the edge to
 * the child with this name (see `childNeed`); who holds a unique key or an idempotency key by its digest, and the idempotency keys
 * that a job holds; the job with a number; the jobs of a workflow, and how those that were deleted had ended; a schedule, and where
 * it was moved to, by its name; an occurrence (see `occurrenceNeed`), that of a job, the last ones of a schedule (see `tailNeed`),
 * and those that have not ended.
 */
export interface Need {
  readonly kind:
    | 'job'
    | 'body'
    | 'result'
    | 'log'
    | 'edgesTo'
    | 'edgesOf'
    | 'awaited'
    | 'rescues'
    | 'child'
    | 'key'
    | 'once'
    | 'onceOf'
    | 'number'
    | 'members'
    | 'gone'
    | 'schedule'
    | 'away'
    | 'occurrence'
    | 'occurrenceOf'
    | 'tail'
    | 'unended'
  readonly name: string
}

export function needs(kind: Need['kind'], names: readonly string[]): readonly Need[] {
  return names.map((name) => ({ kind, name }))
}

/** `key` is the digest of the name that the parent gave its child. */
export function childNeed(parent: string, key: string): Need {
  return { kind: 'child', name: `${parent}\n${key}` }
}

export function occurrenceNeed(schedule: string, at: number): Need {
  return { kind: 'occurrence', name: numberedName(at, schedule) }
}

/** `size` is how many of them. */
export function tailNeed(schedule: string, size: number): Need {
  return { kind: 'tail', name: numberedName(size, schedule) }
}

export function numberedName(number: number, schedule: string): string {
  return `${number} ${schedule}`
}

export function numberAndSchedule(name: string): readonly [number: number, schedule: string] {
  const seam = name.indexOf(' ')
  return [Number(name.slice(0, seam)), name.slice(seam + 1)]
}
