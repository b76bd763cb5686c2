import { idMaker } from '../../../core/id.ts'
import type {
  Fact,
  FactPage,
  FactRequest,
  Packed,
  PackRequest,
  Page,
  PageRequest,
  Parcel,
  ParcelLabel,
  Refusal,
  Transfer,
} from '../../../queue/contract/transfer.ts'
import { keysOf } from '../../../queue/rules/transfer/moved-jobs.ts'
import { MovedUnits } from '../../../queue/rules/transfer/moved-units.ts'
import type { RedisStoreParts } from '../store/store-parts.ts'
import type { LoadedQueue } from '../units/loaded-queue.ts'
import { field } from '../units/needs.ts'
import { wantPlaces, wantTimelines } from './components.ts'
import { factsOf, learnFacts } from './facts.ts'
import { isOfSchedules, movedSchedules, packSchedules, readSchedules } from './moving-schedules.ts'
import { packJobs, readJobs } from './packing.ts'
import { identityOf, parcelKey, parcelLabels, parcelRemoval, receiptWrites, storedParcel, sweepReceipts } from './parcels.ts'

/** Hands jobs over to another queue and takes them over from one, by the same rules as the memory engine. */
export class RedisTransfer implements Transfer {
  readonly #parts: RedisStoreParts
  readonly #newId: () => string

  constructor(parts: RedisStoreParts) {
    this.#parts = parts
    this.#newId = idMaker(() => parts.time.now())
  }

  async identity(): Promise<string> {
    await this.#parts.ready()
    await sweepReceipts(this.#parts.server, this.#parts.time.now())
    return identityOf(this.#parts.server)
  }

  async pack(request: PackRequest): Promise<Packed> {
    await this.#parts.ready()
    const origin = await identityOf(this.#parts.server)
    if (isOfSchedules(request)) return packSchedules(this.#parts, request, this.#newId(), origin)
    return packJobs(this.#parts, request, this.#newId(), { target: request.target, origin, paused: [], schedules: [] })
  }

  async read(request: PageRequest): Promise<Page> {
    await this.#parts.ready()
    return isOfSchedules(request) ? readSchedules(this.#parts, request) : readJobs(this.#parts, request)
  }

  async parcels(): Promise<readonly ParcelLabel[]> {
    await this.#parts.ready()
    return parcelLabels(this.#parts.server)
  }

  async parcel(id: string): Promise<Parcel | null> {
    await this.#parts.ready()
    return storedParcel(this.#parts.server, id)
  }

  async unpack(parcel: Parcel): Promise<readonly Refusal[]> {
    await this.#parts.ready()
    return this.#parts.units.run((queue) => {
      const known = queue.rows.field('rcpt', parcel.id)
      if (known !== null) return { answer: JSON.parse(known) as readonly Refusal[] }
      const refusals = placeAll(queue, parcel)
      queue.wakes = true
      const paused = parcel.paused.map((name) => ['S', 'paused', name, 1])
      return { answer: refusals, ops: [...paused, ...receiptWrites(parcel.id, JSON.stringify(refusals), queue.now)] }
    })
  }

  async close(id: string, returned: readonly string[]): Promise<void> {
    await this.#parts.ready()
    const parcel = await storedParcel(this.#parts.server, id)
    if (parcel === null) return
    const back = new Set(returned)
    const units = parcel.units.filter(({ jobs }) => back.has(jobs[0]?.id as string))
    await this.#parts.units.run((queue) => {
      if (queue.rows.field(parcelKey(id), '') === null) return { answer: undefined }
      const keys = parcel.units.flatMap(({ jobs }) => jobs.flatMap(keysOf))
      queue.rows.want(keys.map((index) => field('ul', index)))
      wantPlaces(queue, units)
      const moved = movedUnits(queue)
      moved.freeReserved(parcel.units)
      moved.takeBack(units, queue.now)
      queue.wakes = units.length > 0
      return { answer: undefined, ops: parcelRemoval(id) }
    })
  }

  async facts(request: FactRequest): Promise<FactPage> {
    await this.#parts.ready()
    return factsOf(this.#parts.server, request, this.#parts.time.now())
  }

  async learn(facts: readonly Fact[]): Promise<void> {
    await this.#parts.ready()
    await learnFacts(this.#parts.units, facts, this.#parts.time)
  }
}

function movedUnits(queue: LoadedQueue): MovedUnits {
  return new MovedUnits({ ...queue.rules, logs: queue.logs })
}

/** Returns the units that could not be placed. */
function placeAll(queue: LoadedQueue, { schedules, units }: Parcel): readonly Refusal[] {
  const names = schedules.map(({ name }) => name)
  queue.rows.want(names.flatMap((name) => [field('sch', name), field('away', name)]))
  wantTimelines(queue, names)
  wantPlaces(queue, units)
  const movedSchedule = movedSchedules(queue)
  for (const schedule of schedules) movedSchedule.place(schedule)
  return movedUnits(queue).placeAll(units, queue.now)
}
