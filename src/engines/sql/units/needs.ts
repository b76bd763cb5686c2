/**
 * What a rule may need, and the name to find it by: a job, its seal (identity, payload and signature) or its result by id; the
 * open edges to a job; all edges of a job, those it still waits for, and those to jobs it stands in for; the edge to the child
 * with this name (see `childNeed`); who holds a unique key by its digest; the job with a number; the jobs of a workflow.
 */
export interface Need {
  readonly kind:
    | 'job'
    | 'seal'
    | 'result'
    | 'edgesTo'
    | 'edgesOf'
    | 'awaited'
    | 'rescues'
    | 'child'
    | 'key'
    | 'number'
    | 'members'
  readonly name: string
}

export function needs(kind: Need['kind'], names: readonly string[]): readonly Need[] {
  return names.map((name) => ({ kind, name }))
}

/** `key` is the digest of the name that the parent gave its child. */
export function childNeed(parent: string, key: string): Need {
  return { kind: 'child', name: `${parent}\n${key}` }
}
