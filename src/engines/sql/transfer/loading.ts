import type { Fact, MovedOccurrence, MovedUnit } from '../../../queue/contract/transfer.ts'
import type { StoredJob } from '../../../queue/rules/jobs/job.ts'
import { keysOf } from '../../../queue/rules/transfer/moved-jobs.ts'
import type { LoadedQueue } from '../units/loaded/loaded-queue.ts'
import { type Need, needs, occurrenceNeed, tailNeed } from '../units/reading/needs.ts'

/** Loads all jobs that are linked to these, by workflow or because one waits for another that has not ended, level by level. */
export function wantComponents(queue: LoadedQueue, ids: readonly string[]): void {
  const { rows } = queue
  const found = new Set(ids)
  for (let last: readonly string[] = ids; last.length > 0; ) {
    queue.want(needs('job', last))
    const linked = last.filter((id) => rows.job(id)?.linked === 1)
    const roots = distinct(linked.flatMap((id) => rows.place(id)?.root ?? []))
    queue.want([...needs('edgesOf', linked), ...needs('edgesTo', linked), ...needs('members', roots)])
    const targets = linked.flatMap((id) => rows.edges('edgesOf', id).filter(({ outcome }) => outcome === null))
    const waiters = linked.flatMap((id) => rows.edges('edgesTo', id))
    const members = roots.flatMap((root) => rows.get('members', root))
    const tied = [...targets.map(({ target }) => target), ...waiters.map(({ waiter }) => waiter), ...members]
    last = distinct(tied).filter((id) => !found.has(id))
    for (const id of last) found.add(id)
  }
}

/** Loads everything that leaves with these jobs. */
export function wantBelongings(queue: LoadedQueue, ids: readonly string[]): void {
  const jobs = ids.flatMap((id) => queue.job(id) ?? [])
  const schedules = distinct(jobs.flatMap(({ occurrence }) => occurrence?.schedule ?? []))
  const places = ids.flatMap((id) => queue.rows.place(id) ?? [])
  queue.want([
    ...['body', 'result', 'log'].flatMap((kind) => needs(kind as Need['kind'], ids)),
    ...needs('key', keyed(jobs.map(({ keyIndex }) => keyIndex))),
    ...needs('onceOf', keyed(jobs.map((job) => (waitsForChildren(job) ? job.envelope.id : null)))),
    ...needs('gone', distinct(places.map(({ root }) => root))),
    ...needs('occurrenceOf', keyed(jobs.map(({ occurrence }) => occurrence?.jobId ?? null))),
    ...schedules.map((name) => tailNeed(name, 1)),
  ])
}

/** After a run, whose idempotency key it still holds. */
function waitsForChildren({ state, startedAt }: Pick<StoredJob, 'state' | 'startedAt'>): boolean {
  return state === 'blocked' && startedAt !== null
}

/** Loads what is checked before jobs are stored. */
export function wantPlaces(queue: LoadedQueue, units: readonly MovedUnit[]): void {
  const jobs = units.flatMap((unit) => unit.jobs)
  queue.want([
    ...jobs.flatMap(({ number }) => (number === null ? [] : needs('number', [String(number)]))),
    ...needs('job', distinct(jobs.map(({ id }) => id))),
    ...needs('key', distinct(jobs.flatMap(keysOf))),
    ...occurrenceNeeds(jobs.flatMap(({ occurrence }) => occurrence ?? [])),
  ])
}

/** Loads what is known here about the same things. */
export function wantFacts(queue: LoadedQueue, facts: readonly Fact[]): void {
  const occurrences = facts.flatMap((fact) => (fact.kind === 'occurrence' ? [fact.occurrence] : []))
  queue.want([
    ...occurrenceNeeds(occurrences),
    ...facts.flatMap((fact) => {
      if (fact.kind === 'once') return needs('once', [fact.key])
      return fact.kind === 'unique' ? needs('key', [fact.key]) : []
    }),
  ])
  wantJobsOf(queue, occurrences)
}

/** Loads the jobs of occurrences that are not known here, or have not ended here. */
export function wantJobsOf(queue: LoadedQueue, occurrences: readonly MovedOccurrence[]): void {
  const open = occurrences.filter(({ schedule, at, outcome }) => {
    const known = queue.occurrences.get(schedule, at)
    return known === undefined || (outcome !== null && !known.hasEnded)
  })
  const ids = distinct(open.map(({ jobId }) => jobId))
  queue.want([...needs('job', ids), ...needs('occurrenceOf', ids)])
}

export function occurrenceNeeds(occurrences: readonly { readonly schedule: string; readonly at: number }[]): readonly Need[] {
  const schedules = distinct(occurrences.map(({ schedule }) => schedule))
  return [...schedules.map((name) => tailNeed(name, 1)), ...occurrences.map(({ schedule, at }) => occurrenceNeed(schedule, at))]
}

function keyed(names: readonly (string | null)[]): readonly string[] {
  return distinct(names.filter((name) => name !== null))
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}
