import type {
  ChangedSchedule,
  Neighbours,
  Occurrence,
  OccurrenceKey,
  OccurrenceQuery,
  OccurrenceRecord,
  ScheduleChange,
  ScheduleChanges,
  ScheduleEntry,
  ScheduleFilter,
  ScheduleRecord,
  ScheduleStanding,
  ScheduleStore,
  SkipRequest,
} from '../../../queue/contract/schedule-store.ts'
import type { Schedules } from '../../../queue/rules/schedules/schedules.ts'
import { script } from '../connections/script.ts'
import type { LoadedQueue } from '../units/loaded-queue.ts'
import { occurrenceName } from '../units/loaded-timeline.ts'
import { field, type Need } from '../units/needs.ts'
import { readSchedule } from '../units/stored-schedule.ts'
import { pairsOf } from './jobs.ts'
import { neighbourhoodOf } from './neighbourhood.ts'
import type { RedisStoreParts } from './store-parts.ts'

/** Maximum number of occurrences of a schedule that are read at once to find those that can be forgotten. */
const page = 500

export class RedisSchedules implements ScheduleStore {
  readonly #parts: RedisStoreParts

  constructor(parts: RedisStoreParts) {
    this.#parts = parts
  }

  register(entries: readonly ScheduleEntry[]): Promise<void> {
    return this.#run(scheduleNeeds(entries.map(({ name }) => name)), (rules) => rules.register(entries))
  }

  async standings(names?: readonly string[]): Promise<readonly ScheduleStanding[]> {
    const known = names ?? (await this.#names())
    return this.#run(scheduleNeeds(known), (rules, queue) => {
      for (const name of known) if (queue.schedules.get(name) !== undefined) queue.timelines.get(name)
      return rules.standings(names)
    })
  }

  enqueue(occurrences: readonly Occurrence[]): Promise<readonly boolean[]> {
    const schedules = scheduleNeeds(occurrences.map(({ schedule }) => schedule))
    const jobs = occurrences.map(({ envelope }) => field('h', envelope.id))
    const { time } = this.#parts
    const due = occurrences.map((each) => ({ ...each, envelope: { ...each.envelope, runAt: time.dueAt(each.envelope.runAt) } }))
    return this.#run([...schedules, ...jobs], (rules) => rules.enqueue(due))
  }

  occurrences(query: OccurrenceQuery): Promise<readonly (OccurrenceRecord | null)[]> {
    if ('keys' in query) return this.#find(query.keys)
    const { schedule } = query
    return this.#run(scheduleNeeds([schedule]), (rules, queue) => {
      queue.timelines.get(schedule)
      return rules.occurrences(query)
    })
  }

  async neighbours(key: OccurrenceKey): Promise<Neighbours> {
    await this.#parts.ready()
    const timeline = await neighbourhoodOf(this.#parts.server, key)
    const earlier = [...timeline.unended].filter(({ at }) => at < key.at)
    return this.#run([], (rules, queue) => {
      queue.want(earlier.map(({ jobId }) => jobId))
      queue.timelines.set(key.schedule, timeline)
      return rules.neighbours(key)
    })
  }

  markSeen(keys: readonly OccurrenceKey[]): Promise<void> {
    return this.#run(scheduleNeeds(keys.map(({ schedule }) => schedule)), (rules) => rules.markSeen(keys))
  }

  skipWaiting(request: SkipRequest): Promise<number> {
    return this.#run(scheduleNeeds([request.schedule]), (rules) => rules.skipWaiting(request))
  }

  change(name: string, change: ScheduleChange): Promise<boolean> {
    return this.#run(scheduleNeeds([name]), (rules) => rules.change(name, change))
  }

  async list(filter: ScheduleFilter = {}): Promise<readonly ScheduleRecord[]> {
    const { prefix = '', names = await this.#names(prefix) } = filter
    const meant = names.filter((name) => name.startsWith(prefix))
    return this.#run(scheduleNeeds(meant), (rules, queue) => {
      for (const name of meant) queue.schedules.get(name)
      return rules.list(filter)
    })
  }

  async changes(since: number, limit: number): Promise<ScheduleChanges> {
    await this.#parts.ready()
    const { server } = this.#parts
    const [flat, revision] = (await server.all([
      ['ZRANGEBYSCORE', 'schx', `(${since}`, '+inf', 'WITHSCORES', 'LIMIT', 0, limit + 1],
      ['HGET', 'meta', 'revision'],
    ])) as [string[], string | null]
    const later = [...pairsOf(flat)]
    const page = later.slice(0, limit)
    const texts = await server.read(page.map(([name]) => field('sch', name)))
    const hasMore = later.length > page.length
    const last = hasMore ? Number(page.at(-1)?.[1] ?? since) : Number(revision ?? 0) || 0
    return { revision: last, changed: page.map(([name], index) => changeOf(name, texts[index] as string | null)), hasMore }
  }

  /** Part of `JobStore.sweep`. Never forgets the last occurrence that has ended, nor any that has not ended. */
  async forget(before: number, limit: number): Promise<number> {
    await this.#parts.ready()
    await this.#parts.server.run(forgetScript, [before])
    const [names] = (await this.#parts.server.all([['SMEMBERS', 'timed']])) as [string[]]
    let forgotten = 0
    for (const name of await this.#withOld(names.sort(), before)) {
      while (forgotten < limit) {
        const found = await this.#forgetOf(name, before, Math.min(limit - forgotten, page))
        forgotten += found
        if (found < page) break
      }
    }
    return forgotten
  }

  #find(keys: readonly OccurrenceKey[]): Promise<readonly (OccurrenceRecord | null)[]> {
    const needs = keys.map(({ schedule, at }) => field('oc', occurrenceName(schedule, at)))
    return this.#run(needs, (_, queue) => keys.map(({ schedule, at }) => queue.occurrences.get(schedule, at)?.record() ?? null))
  }

  async #forgetOf(schedule: string, before: number, limit: number): Promise<number> {
    const ended = await this.#endedBefore(schedule, before)
    const hasLater = await this.#hasEndedAfter(schedule, ended.at(-1))
    const meant = (hasLater ? ended : ended.slice(0, -1)).slice(0, limit)
    if (meant.length === 0) return 0
    return this.#run([], (_, queue) => {
      queue.rows.want(meant.map((at) => field('oc', occurrenceName(schedule, at))))
      const doomed = meant.flatMap((at) => queue.occurrences.get(schedule, at) ?? []).filter(({ hasEnded }) => hasEnded)
      for (const occurrence of doomed) queue.occurrences.removed.add(occurrence)
      return doomed.length
    })
  }

  /** Those of these schedules that have an occurrence from before this instant. */
  async #withOld(names: readonly string[], before: number): Promise<readonly string[]> {
    const found: string[] = []
    for (let first = 0; first < names.length; first += page) {
      const part = names.slice(first, first + page)
      const counts = await this.#parts.server.all(part.map((name) => ['ZCOUNT', `occ:${name}`, '-inf', `(${before}`] as const))
      found.push(...part.filter((_, index) => counts[index] !== 0))
    }
    return found
  }

  /** The first ones of a schedule. */
  async #endedBefore(schedule: string, before: number): Promise<readonly number[]> {
    const { server } = this.#parts
    const [instants] = (await server.all([['ZRANGEBYSCORE', `occ:${schedule}`, '-inf', `(${before}`, 'LIMIT', 0, page]])) as [
      string[],
    ]
    if (instants.length === 0) return []
    const [unended] = (await server.all([['ZMSCORE', `ou:${schedule}`, ...instants]])) as [(string | null)[]]
    return instants.filter((_, index) => unended[index] === null).map(Number)
  }

  async #hasEndedAfter(schedule: string, at: number | undefined): Promise<boolean> {
    if (at === undefined) return false
    const [stored, unended] = (await this.#parts.server.all([
      ['ZCOUNT', `occ:${schedule}`, `(${at}`, '+inf'],
      ['ZCOUNT', `ou:${schedule}`, `(${at}`, '+inf'],
    ])) as [number, number]
    return stored > unended
  }

  async #names(prefix = ''): Promise<readonly string[]> {
    await this.#parts.ready()
    return (await this.#parts.server.run(namesScript, [prefix])) as string[]
  }

  async #run<Answer>(needs: readonly Need[], act: (rules: Schedules, queue: LoadedQueue) => Answer): Promise<Answer> {
    await this.#parts.ready()
    return this.#parts.units.run((queue) => {
      queue.rows.want(needs)
      return { answer: act(queue.rules.schedules, queue) }
    })
  }
}

function changeOf(name: string, text: string | null): ChangedSchedule {
  const schedule = readSchedule(name, text)
  if (schedule === undefined) return { name, entry: null }
  const { expression, timezone, version, definition } = schedule
  return { name, entry: { name, expression, timezone, version, definition } }
}

/** The schedules whose names begin with a text. */
const namesScript = script(`
local names, prefix = redis.call('HKEYS', KEYS[1] .. 'sch'), ARGV[1]
if prefix == '' then return names end
local found = {}
for _, name in ipairs(names) do
  if string.sub(name, 1, #prefix) == prefix then found[#found + 1] = name end
end
return found
`)

/** Forgets which schedules were removed before an instant. */
const forgetScript = script(`
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1] .. 'schr', '-inf', '(' .. ARGV[1])) do
  redis.call('ZREM', KEYS[1] .. 'schr', name)
  redis.call('ZREM', KEYS[1] .. 'schx', name)
end
return ''
`)

function scheduleNeeds(names: readonly string[]): readonly Need[] {
  return [...new Set(names)].map((name) => field('sch', name))
}
