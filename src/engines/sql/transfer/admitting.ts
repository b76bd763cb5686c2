import { type Steps, wait } from '../../../core/answer.ts'
import type { MovedJob, MovedUnit, Refusal } from '../../../queue/contract/transfer.ts'
import { unscopedKey } from '../../../queue/model/unique-key.ts'
import type { UniqueKeys } from '../keys/unique-keys.ts'
import type { SqlSession } from '../session.ts'
import { isUnbegun } from './placing.ts'
import { heldDigest, lastingDigest } from './removing.ts'

export interface Admitted {
  readonly units: readonly MovedUnit[]
  readonly refusals: readonly Refusal[]
}

/**
 * Determines which units there is room for. A scheduled run that has not begun is left out if this queue has stored it itself.
 */
export function* admit(session: SqlSession, units: readonly MovedUnit[], uniqueKeys: UniqueKeys, now: number): Steps<Admitted> {
  const taken = yield* takenBy(
    session,
    units.flatMap(({ jobs }) => jobs),
    uniqueKeys,
    now,
  )
  const admitted: MovedUnit[] = []
  const refusals: Refusal[] = []
  for (const unit of units) {
    const [first] = unit.jobs as readonly [MovedJob]
    const why = unit.jobs.map((job) => taken.refusalOf(job)).find((each) => each !== null)
    if (why !== undefined) refusals.push({ id: first.id, jobs: unit.jobs.length, why: why as string })
    else if (unit.jobs.length > 1 || !taken.isRepeated(first)) {
      for (const job of unit.jobs) taken.take(job)
      admitted.push(unit)
    }
  }
  return { units: admitted, refusals }
}

function* takenBy(session: SqlSession, jobs: readonly MovedJob[], uniqueKeys: UniqueKeys, now: number): Steps<Taken> {
  if (jobs.length === 0) return new Taken([], new Map(), new Map(), new Map())
  const ids = jobs.map(({ id }) => id)
  const there = yield* wait(session.all<{ id: string }>('SELECT id FROM {jobs} WHERE id IN (?)', [ids]))
  const numbers = jobs.flatMap(({ number }) => number ?? [])
  const numbered =
    numbers.length === 0
      ? []
      : yield* wait(session.all<{ id: string; number: number }>('SELECT id, number FROM {jobs} WHERE number IN (?)', [numbers]))
  const digests = [...new Set(jobs.flatMap((job) => digestsOf(job)))].sort()
  return new Taken(
    there.map(({ id }) => id),
    new Map(numbered.map(({ id, number }) => [number, id])),
    new Map(yield* uniqueKeys.holders(session, digests, now)),
    yield* occurrencesOf(session, jobs),
  )
}

function* occurrencesOf(session: SqlSession, jobs: readonly MovedJob[]): Steps<Map<string, string>> {
  const wanted = jobs.flatMap(({ occurrence }) => occurrence ?? [])
  if (wanted.length === 0) return new Map()
  const schedules = [...new Set(wanted.map(({ schedule }) => schedule))]
  const instants = [...new Set(wanted.map(({ at }) => at))]
  const rows = yield* wait(
    session.all<{ schedule: string; at: number; job_id: string }>(
      'SELECT schedule, at, job_id FROM {occurrences} WHERE schedule IN (?) AND at IN (?)',
      [schedules, instants],
    ),
  )
  return new Map(rows.map(({ schedule, at, job_id }) => [`${at} ${schedule}`, job_id]))
}

/** What is already taken in this queue. */
class Taken {
  readonly #ids: Set<string>
  readonly #numbers: Map<number, string>
  readonly #keys: Map<string, string>
  readonly #occurrences: ReadonlyMap<string, string>

  constructor(
    ids: readonly string[],
    numbers: Map<number, string>,
    keys: Map<string, string>,
    occurrences: ReadonlyMap<string, string>,
  ) {
    this.#ids = new Set(ids)
    this.#numbers = numbers
    this.#keys = keys
    this.#occurrences = occurrences
  }

  refusalOf(job: MovedJob): string | null {
    const { id, number, uniqueKey } = job
    if (this.#ids.has(id)) return `there is a job ${id} already`
    const namesake = number === null ? undefined : this.#numbers.get(number)
    if (namesake !== undefined) return `job ${namesake} has its number, ${number}`
    const holder = digestsOf(job)
      .map((digest) => this.#keys.get(digest))
      .find((each) => each !== undefined && each !== id)
    if (holder !== undefined) return `job ${holder} holds its unique key ${JSON.stringify(unscopedKey(uniqueKey as string))}`
    return this.isRepeated(job) && !isUnbegun(job) ? `another job stands for this run of "${job.occurrence?.schedule}"` : null
  }

  /** Whether the queue has another job for the same scheduled run. */
  isRepeated({ id, occurrence }: MovedJob): boolean {
    if (occurrence === null) return false
    const { at, schedule } = occurrence
    return (this.#occurrences.get(`${at} ${schedule}`) ?? id) !== id
  }

  take(job: MovedJob): void {
    this.#ids.add(job.id)
    if (job.number !== null) this.#numbers.set(job.number, job.id)
    for (const digest of digestsOf(job)) this.#keys.set(digest, job.id)
  }
}

function digestsOf(job: MovedJob): readonly string[] {
  return [heldDigest(job), lastingDigest(job)].filter((each) => each !== null)
}
