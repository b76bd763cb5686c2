import { idMaker, randomToken } from '../../../core/id.ts'
import type { Clock } from '../../../core/time/clock.ts'
import type { Watchers } from '../../../queue/claiming/watchers.ts'
import type {
  Contents,
  Fact,
  FactPage,
  FactRequest,
  MovedSchedule,
  Packed,
  PackRequest,
  Page,
  PageRequest,
  Parcel,
  ParcelLabel,
  Refusal,
  Transfer,
} from '../../../queue/contract/transfer.ts'
import type { MemoryNumbers } from '../keys/numbers.ts'
import { allFacts, learnFact } from './facts.ts'
import { movedOccurrence } from './moved-jobs.ts'
import { Units, type UnitsParts } from './units.ts'

export interface MemoryTransferParts extends UnitsParts {
  readonly clock: Clock
  readonly watchers: Watchers
  readonly paused: Set<string>
  readonly numbers: MemoryNumbers
  /** Throws when the backend is closed. */
  readonly checkOpen: () => void
}

const lastOccurrences = 20

export class MemoryTransfer implements Transfer {
  readonly #parts: MemoryTransferParts
  readonly #units: Units
  readonly #identity = randomToken()
  readonly #newId: () => string
  readonly #parcels = new Map<string, Parcel>()
  readonly #receipts = new Map<string, readonly Refusal[]>()
  readonly #movedAway = new Set<string>()
  readonly #toldOfPaused = new Set<string>()

  constructor(parts: MemoryTransferParts) {
    this.#parts = parts
    this.#units = new Units(parts)
    this.#newId = idMaker(() => parts.clock.now())
  }

  async identity(): Promise<string> {
    this.#parts.checkOpen()
    return this.#identity
  }

  async pack(request: PackRequest): Promise<Packed> {
    const { paused, ...page } = this.#page(request)
    const isTold = request.after !== null || this.#toldOfPaused.has(request.target)
    if (request.after === null) this.#toldOfPaused.add(request.target)
    for (const { name } of page.schedules) this.#leave(name)
    this.#units.takeOut(page.units)
    const { after, unreadable, ...rest } = page
    const contents: Contents = { ...rest, paused: isTold ? [] : paused }
    if ([contents.paused, contents.schedules, contents.units].every(({ length }) => length === 0)) {
      return { parcel: null, after, unreadable }
    }
    const parcel = { id: this.#newId(), target: request.target, origin: this.#identity, ...contents }
    this.#parcels.set(parcel.id, parcel)
    return { parcel, after, unreadable }
  }

  async read(request: PageRequest): Promise<Page> {
    return this.#page(request)
  }

  async parcels(): Promise<readonly ParcelLabel[]> {
    this.#parts.checkOpen()
    return [...this.#parcels.values()].map(({ id, target }) => ({ id, target }))
  }

  async parcel(id: string): Promise<Parcel | null> {
    this.#parts.checkOpen()
    return this.#parcels.get(id) ?? null
  }

  async unpack(parcel: Parcel): Promise<readonly Refusal[]> {
    const { checkOpen, clock, watchers, paused } = this.#parts
    checkOpen()
    const known = this.#receipts.get(parcel.id)
    if (known !== undefined) return known
    const now = clock.now()
    for (const queue of parcel.paused) paused.add(queue)
    for (const schedule of parcel.schedules) this.#placeSchedule(schedule)
    const refusals: Refusal[] = []
    for (const unit of parcel.units) {
      const [first] = unit.jobs
      const why = unit.jobs.map((job) => this.#units.refusalOf(job, now)).find((each) => each !== null)
      if (first === undefined) continue
      if (why != null) refusals.push({ id: first.id, jobs: unit.jobs.length, why })
      else if (unit.jobs.length > 1 || !this.#units.isRepeated(first)) this.#units.place(unit, now)
    }
    this.#receipts.set(parcel.id, refusals)
    watchers.notify()
    return refusals
  }

  async close(id: string, returned: readonly string[]): Promise<void> {
    const { checkOpen, clock, watchers } = this.#parts
    checkOpen()
    const parcel = this.#parcels.get(id)
    if (parcel === undefined) return
    this.#parcels.delete(id)
    this.#units.freeReserved(parcel.units)
    const back = new Set(returned)
    for (const unit of parcel.units) if (back.has(unit.jobs[0]?.id as string)) this.#units.place(unit, clock.now())
    if (returned.length > 0) watchers.notify()
  }

  async facts({ after, limit }: FactRequest): Promise<FactPage> {
    this.#parts.checkOpen()
    const from = Number(after ?? 0)
    const facts = allFacts(this.#parts, this.#parts.clock.now())
    return { facts: facts.slice(from, from + limit), after: from + limit < facts.length ? String(from + limit) : null }
  }

  async learn(facts: readonly Fact[]): Promise<void> {
    this.#parts.checkOpen()
    for (const fact of facts) learnFact(this.#parts, fact, this.#parts.clock.now())
  }

  #page(request: PageRequest): Page {
    this.#parts.checkOpen()
    const { after } = request
    if (after === null) {
      const { queue } = request
      const paused = [...this.#parts.paused].filter((name) => queue === null || name === queue).sort()
      return { paused, schedules: this.#schedulesOf(queue), units: [], after: 'j-1', unreadable: [] }
    }
    const { units, last } = this.#units.read(request, Number(after.slice(1)))
    return { paused: [], schedules: [], units, after: last === null ? null : `j${last}`, unreadable: [] }
  }

  /** Without those that were moved away. */
  #schedulesOf(queue: string | null): readonly MovedSchedule[] {
    const { schedules, timelines } = this.#parts.schedules.all
    const isHere = ({ name, paused }: { name: string; paused: boolean }) => !(paused && this.#movedAway.has(name))
    return schedules
      .filter((each) => isHere(each) && (queue === null || this.#hasJobsIn(each.name, queue)))
      .map((schedule) => {
        const latest = timelines.get(schedule.name)?.all.slice(-lastOccurrences).reverse() ?? []
        return { ...schedule, occurrences: latest.map(movedOccurrence) }
      })
  }

  #hasJobsIn(schedule: string, queue: string): boolean {
    const { jobs, schedules } = this.#parts
    return schedules.timeline(schedule).all.some(({ jobId }) => jobs.get(jobId)?.envelope.queue === queue)
  }

  #leave(name: string): void {
    const { schedules } = this.#parts
    const known = schedules.all.schedules.find((each) => each.name === name)
    if (known !== undefined) schedules.restore({ ...known, paused: true })
    this.#movedAway.add(name)
  }

  /** What this queue knows of a schedule goes before what comes, unless it was moved away from here and comes back. */
  #placeSchedule({ occurrences, ...coming }: MovedSchedule): void {
    const { schedules } = this.#parts
    const here = schedules.all.schedules.find(({ name }) => name === coming.name)
    const isBack = this.#movedAway.delete(coming.name)
    const hasSameInstants = here?.expression === coming.expression && here.timezone === coming.timezone
    if (here === undefined || isBack) schedules.restore(coming)
    else {
      const since = hasSameInstants ? Math.min(here.since, coming.since) : here.since
      schedules.restore({ ...here, since, paused: here.paused || coming.paused })
    }
    for (const occurrence of occurrences) learnFact(this.#parts, { kind: 'occurrence', occurrence }, 0)
  }
}
