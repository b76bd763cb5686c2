import { stopwatch } from '../core/time/clock.ts'
import type { Fact, MovedSchedule, MovedUnit, Parcel, Refusal } from '../queue/contract/transfer.ts'
import { type FileHeader, readLine, unitOf } from './files/lines.ts'
import { checkedFile, linesIn } from './files/reading.ts'
import type { MoveProgress } from './move-report.ts'
import { openSide, type Place } from './sides.ts'
import { type Target, targetOf } from './target.ts'

/** How to import a file of jobs. */
export interface ImportOptions {
  /** A file that `exportJobs` has written. */
  readonly from: string
  readonly to: Place
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: MoveProgress) => void
}

/** What was imported, and what was refused. */
export interface ImportReport {
  /** Jobs of the file that are stored now, or were stored from it before. */
  readonly jobs: number
  /** The first thousand units that the target cannot take. They are only in the file. */
  readonly refused: readonly LineRefusal[]
  readonly refusedJobs: number
  /** False if the signal ended it. The next import of the same file continues. */
  readonly isComplete: boolean
}

/** A line of a file that could not be imported, and why. */
export interface LineRefusal extends Refusal {
  /** Starts at 1. */
  readonly line: number
}

const linesPerParcel = 500
const charactersPerParcel = 4_000_000
const keptRefusals = 1_000

/**
 * Stores the jobs of a file. The whole file is checked first, and nothing is stored if anything in it is wrong. What was stored
 * from the same file before is not stored again.
 */
export async function importJobs(options: ImportOptions): Promise<ImportReport> {
  const { from, to } = options
  const { header, jobs } = await checkedFile(from)
  await using side = await openSide(to)
  return await new Importing(targetOf(side.backend, side.name), header, jobs, options).run()
}

class Importing {
  readonly #target: Target
  readonly #header: FileHeader
  readonly #total: number
  readonly #options: ImportOptions
  readonly #elapsedMs = stopwatch()
  readonly #refused: LineRefusal[] = []
  #refusedJobs = 0
  #jobs = 0
  #batch = new Batch(0)

  constructor(target: Target, header: FileHeader, total: number, options: ImportOptions) {
    this.#target = target
    this.#header = header
    this.#total = total
    this.#options = options
  }

  async run(): Promise<ImportReport> {
    const { from, signal } = this.#options
    for await (const { text, line } of linesIn(from)) {
      if (line === 1) continue
      if (signal?.aborted === true) return this.#report(false)
      this.#batch.add(text, line)
      if (this.#batch.isFull) await this.#store(line)
    }
    await this.#store(0)
    return this.#report(true)
  }

  /** The parcels of a file are always the same, so each is stored only once. */
  async #store(nextLine: number): Promise<void> {
    const batch = this.#batch
    this.#batch = new Batch(nextLine)
    if (batch.facts.length > 0) await this.#target.learn(batch.facts)
    const { paused, schedules, units } = batch
    const id = `${this.#header.id}:${batch.firstLine}`
    const origin = `file:${this.#header.id}`
    const parcel: Parcel = { id, origin, target: await this.#target.identity(), paused, schedules, units }
    const refusals = units.length + schedules.length + paused.length === 0 ? [] : await this.#target.unpack(parcel)
    for (const refusal of refusals) this.#refuse(refusal, batch.lineOf(refusal.id))
    this.#jobs += units.reduce((sum, unit) => sum + unit.jobs.length, 0) - refusals.reduce((sum, { jobs }) => sum + jobs, 0)
    this.#reportProgress()
  }

  #refuse(refusal: Refusal, line: number): void {
    this.#refusedJobs += refusal.jobs
    if (this.#refused.length < keptRefusals) this.#refused.push({ ...refusal, line })
  }

  #reportProgress(): void {
    const seconds = this.#elapsedMs() / 1_000
    const rate = seconds > 0 ? this.#jobs / seconds : 0
    this.#options.onProgress?.({ moved: this.#jobs, total: this.#total, refused: this.#refusedJobs, rate, waitingFor: null })
  }

  #report(isComplete: boolean): ImportReport {
    return { jobs: this.#jobs, refused: this.#refused, refusedJobs: this.#refusedJobs, isComplete }
  }
}

/** Lines that are stored together. */
class Batch {
  readonly facts: Fact[] = []
  readonly paused: string[] = []
  readonly schedules: MovedSchedule[] = []
  readonly units: MovedUnit[] = []
  readonly firstLine: number
  readonly #lines = new Map<string, number>()
  #count = 0
  #characters = 0

  constructor(firstLine: number) {
    this.firstLine = firstLine
  }

  get isFull(): boolean {
    return this.#count >= linesPerParcel || this.#characters >= charactersPerParcel
  }

  lineOf(id: string): number {
    return this.#lines.get(id) ?? 0
  }

  add(text: string, line: number): void {
    const read = readLine(text, line)
    this.#count++
    this.#characters += text.length
    const unit = unitOf(read)
    if (unit !== null) {
      this.units.push(unit)
      this.#lines.set(unit.jobs[0]?.id ?? '', line)
    } else if ('fact' in read) this.facts.push(read.fact)
    else if ('schedule' in read) this.schedules.push(read.schedule)
    else if ('paused' in read) this.paused.push(read.paused)
  }
}
