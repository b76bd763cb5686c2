import { type Steps, wait } from '../../../core/answer.ts'
import type {
  Occurrence,
  OccurrenceKey,
  ScheduleChange,
  ScheduleEntry,
  SkipRequest,
} from '../../../queue/contract/schedule-store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { stateNumber } from '../rows/tables.ts'
import { sendNeeds } from '../sending.ts'
import type { SqlDatabase } from '../session.ts'
import type { LoadedQueue } from '../units/loaded/loaded-queue.ts'
import { NewLanes } from '../units/loaded/new-lanes.ts'
import { type Need, needs, occurrenceNeed, tailNeed } from '../units/reading/needs.ts'
import type { Rule, Unit, Units } from '../units/units.ts'
import { holdRevision } from './schedule-revision.ts'

export interface DecidingParts {
  readonly database: SqlDatabase
  readonly units: Units
  readonly lanes: Lanes
  readonly time: QueueTime
}

/** Everything about schedules that the rules decide. */
export class ScheduleDecisions {
  readonly #parts: DecidingParts

  constructor(parts: DecidingParts) {
    this.#parts = parts
  }

  /**
   * Every program registers all its schedules when it starts. Usually nothing has changed, and then no program should wait for
   * another.
   */
  *register(entries: readonly ScheduleEntry[]): Steps<void> {
    const { units, time } = this.#parts
    if (entries.length === 0) return
    const changed = (queue: LoadedQueue) => {
      queue.want(needs('schedule', namesOf(entries.map(({ name }) => name))))
      return entries.filter((entry) => !queue.rules.schedules.isRegistered(entry)).map(({ name }) => name)
    }
    if ((yield* units.read(time, changed)).length === 0) return
    yield* this.#change((queue) => {
      wantUnended(queue, namesOf(changed(queue)))
      queue.rules.schedules.register(entries)
    })
  }

  change(name: string, change: ScheduleChange): Steps<boolean> {
    return this.#change((queue) => {
      queue.want(needs('schedule', [name]))
      if (queue.schedules.get(name) !== undefined) wantUnended(queue, [name])
      return queue.rules.schedules.change(name, change)
    })
  }

  *enqueue(occurrences: readonly Occurrence[]): Steps<readonly boolean[]> {
    const { units, time } = this.#parts
    if (occurrences.length === 0) return []
    const envelopes = occurrences.map(({ envelope }) => envelope)
    const lanes = new NewLanes(this.#parts.lanes)
    yield* lanes.prepare(envelopes, true)
    const wanted = [...scheduleNeeds(namesOf(occurrences.map(({ schedule }) => schedule))), ...envelopes.flatMap(sendNeeds)]
    const rule = (queue: LoadedQueue) => {
      queue.want(wanted)
      queue.want(occurrences.filter((each) => isEarlier(queue, each)).map(({ schedule, at }) => occurrenceNeed(schedule, at)))
      return queue.rules.schedules.enqueue(occurrences)
    }
    const ids = envelopes.map(({ id }) => id)
    return yield* units.within(time, (unit) => holding(unit, ids, rule, lanes), { isAlone: false })
  }

  *markSeen(keys: readonly OccurrenceKey[]): Steps<void> {
    if (keys.length === 0) return
    const wanted = [
      ...keys.map(({ schedule, at }) => occurrenceNeed(schedule, at)),
      ...namesOf(keys.map(({ schedule }) => schedule)).map((name) => tailNeed(name, 1)),
    ]
    yield* this.#parts.units.run([], this.#parts.time, (queue) => {
      queue.want(wanted)
      queue.rules.schedules.markSeen(keys)
    })
  }

  /** Usually there are none, so it first looks without a lock. */
  *skipWaiting(request: SkipRequest): Steps<number> {
    const { database, units, time } = this.#parts
    const { schedule, before } = request
    const late = yield* wait(
      database.all(
        `SELECT late.job_id FROM {occurrences} AS late JOIN {jobs} AS jobs ON jobs.id = late.job_id
         WHERE late.schedule = ? AND late.outcome IS NULL AND jobs.state <= ${stateNumber.scheduled} AND jobs.started_at IS NULL
           AND late.at < ? AND late.stored_at < late.at LIMIT 1`,
        [schedule, before],
      ),
    )
    if (late.length === 0) return 0
    const rule = (queue: LoadedQueue) => {
      wantUnended(queue, [schedule])
      return queue.rules.schedules.skipWaiting(request)
    }
    return (yield* units.run([], time, rule)).answer
  }

  /** Jobs that are withdrawn may be part of workflows, so the links mutex is taken first. */
  *#change<Value>(rule: Rule<Value>): Steps<Value> {
    const { units, time } = this.#parts
    return yield* wait(units.alone(time, (unit) => holding(unit, [], rule)))
  }
}

function* holding<Value>(unit: Unit, ids: readonly string[], rule: Rule<Value>, lanes?: NewLanes): Steps<Value> {
  yield* holdRevision(unit.session)
  return (yield* unit.decide(ids, rule, lanes)).answer
}

/** Whether it comes before the latest one that is stored, so that it may be stored already. */
function isEarlier({ timelines }: LoadedQueue, { schedule, at }: OccurrenceKey): boolean {
  const latest = timelines.get(schedule)?.latest
  return latest !== undefined && at < latest.at
}

function scheduleNeeds(names: readonly string[]): readonly Need[] {
  return [...needs('schedule', names), ...names.map((name) => tailNeed(name, 1))]
}

/** Schedules with their occurrences that have not ended, and the jobs of those. */
function wantUnended(queue: LoadedQueue, names: readonly string[]): void {
  queue.want([...scheduleNeeds(names), ...needs('unended', names)])
  const waiting = names.flatMap((name) => queue.occurrences.unended(name).map(({ jobId }) => jobId))
  queue.want(needs('job', waiting))
}

function namesOf(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}
