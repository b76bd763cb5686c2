import { idMaker, randomToken } from '../../../core/id.ts'
import type { Clock } from '../../../core/time/clock.ts'
import type { Watchers } from '../../../queue/backend/watchers.ts'
import type {
  Contents,
  Fact,
  FactPage,
  FactRequest,
  MovedUnit,
  Packed,
  PackRequest,
  Page,
  PageRequest,
  Parcel,
  ParcelLabel,
  Refusal,
  Transfer,
} from '../../../queue/contract/transfer.ts'
import type { StoredJob } from '../../../queue/rules/jobs/job.ts'
import { learnFact } from '../../../queue/rules/transfer/learning.ts'
import { MovedSchedules } from '../../../queue/rules/transfer/moved-schedules.ts'
import { MovedUnits, type MovedUnitsParts } from '../../../queue/rules/transfer/moved-units.ts'
import type { Immediate } from '../guarded.ts'
import type { MemoryNumbers } from '../keys/numbers.ts'
import { allFacts } from './facts.ts'

export interface MemoryTransferParts extends MovedUnitsParts {
  readonly clock: Clock
  readonly watchers: Watchers
  readonly paused: Set<string>
  readonly numbers: MemoryNumbers
}

/** Where the page of the schedules ends, and that of the first jobs begins. */
const beforeAllJobs = '0'

export class MemoryTransfer implements Immediate<Transfer> {
  readonly #parts: MemoryTransferParts
  readonly #units: MovedUnits
  readonly #schedules: MovedSchedules
  readonly #identity = randomToken()
  readonly #newId: () => string
  readonly #parcels = new Map<string, Parcel>()
  readonly #receipts = new Map<string, readonly Refusal[]>()
  readonly #toldOfPaused = new Set<string>()

  constructor(parts: MemoryTransferParts) {
    this.#parts = parts
    this.#units = new MovedUnits(parts)
    this.#schedules = new MovedSchedules({ ...parts, away: new Map() })
    this.#newId = idMaker(() => parts.clock.now())
  }

  identity(): string {
    return this.#identity
  }

  pack(request: PackRequest): Packed {
    const { paused, ...page } = this.#page(request, true)
    const isTold = request.after !== null || this.#toldOfPaused.has(request.target)
    if (request.after === null) this.#toldOfPaused.add(request.target)
    for (const { name } of page.schedules) this.#schedules.leave(name, request.target)
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

  read(request: PageRequest): Page {
    return this.#page(request, false)
  }

  parcels(): readonly ParcelLabel[] {
    return [...this.#parcels.values()].map(({ id, target }) => ({ id, target }))
  }

  parcel(id: string): Parcel | null {
    return this.#parcels.get(id) ?? null
  }

  unpack(parcel: Parcel): readonly Refusal[] {
    const { clock, watchers, paused } = this.#parts
    const known = this.#receipts.get(parcel.id)
    if (known !== undefined) return known
    const now = clock.now()
    for (const queue of parcel.paused) paused.add(queue)
    for (const schedule of parcel.schedules) this.#schedules.place(schedule)
    const refusals = this.#units.placeAll(parcel.units, now)
    this.#receipts.set(parcel.id, refusals)
    watchers.notify()
    return refusals
  }

  close(id: string, returned: readonly string[]): void {
    const { clock, watchers } = this.#parts
    const parcel = this.#parcels.get(id)
    if (parcel === undefined) return
    this.#parcels.delete(id)
    this.#units.freeReserved(parcel.units)
    const back = new Set(returned)
    this.#units.takeBack(
      parcel.units.filter(({ jobs }) => back.has(jobs[0]?.id as string)),
      clock.now(),
    )
    if (returned.length > 0) watchers.notify()
  }

  facts({ after, limit }: FactRequest): FactPage {
    const from = Number(after ?? 0)
    const facts = allFacts(this.#parts, this.#parts.clock.now())
    return { facts: facts.slice(from, from + limit), after: from + limit < facts.length ? String(from + limit) : null }
  }

  learn(facts: readonly Fact[]): void {
    for (const fact of facts) learnFact(this.#parts, fact, this.#parts.clock.now())
  }

  #page(request: PageRequest, isTaken: boolean): Page {
    const { after } = request
    if (after === null) {
      const { queue } = request
      const paused = [...this.#parts.paused].filter((name) => queue === null || name === queue).sort()
      return {
        paused,
        schedules: this.#schedules.read(
          this.#parts.schedules.all.schedules.map(({ name }) => name),
          queue,
        ),
        units: [],
        after: beforeAllJobs,
        unreadable: [],
      }
    }
    const { units, last } = this.#read(request, after, isTaken)
    return { paused: [], schedules: [], units, after: last, unreadable: [] }
  }

  /** Jobs that are not running, with their workflows, in the order of their ids. */
  #read(request: PageRequest, after: string, isTaken: boolean): { units: readonly MovedUnit[]; last: string | null } {
    const units: MovedUnit[] = []
    const seen = new Set<StoredJob>()
    let last: string | null = null
    for (const job of this.#parts.jobs.lists.listOf().after(after)) {
      if (seen.size >= request.limit) return { units, last }
      last = job.envelope.id
      if (seen.has(job) || !this.#units.isMeant(job, request)) continue
      const members = this.#units.componentOf(job)
      for (const member of members) seen.add(member)
      if (!isTaken && this.#units.wasShown(members, after, request)) continue
      const unit = this.#units.unitOf(members)
      if (unit !== null) units.push(unit)
    }
    return { units, last: null }
  }
}
