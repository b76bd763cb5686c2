import { TreadleError } from '../core/errors.ts'
import { idMaker } from '../core/id.ts'
import { systemClock } from '../core/time/clock.ts'
import { formatInstant } from '../core/time/instant.ts'
import type { FactPage, Page } from '../queue/contract/transfer.ts'
import { type FileHeader, fileVersion, linesOf } from './files/lines.ts'
import { ExportFile, openExportFile } from './files/writing.ts'
import { countsOf, type MoveProgress, sumOf } from './move-report.ts'
import { Mover, type Source } from './mover.ts'
import { openSource, type Place } from './sides.ts'

/** Which jobs to export, and how. */
export interface ExportOptions {
  readonly from: Place
  /** A file that does not exist yet, or a function that writes texts one after the other and is awaited. */
  readonly to: string | ((text: string) => Promise<unknown>)
  /** Only this queue, with all jobs of the workflows that have jobs in it. */
  readonly queue?: string
  /** Takes the jobs out of the queue. An interrupted export continues with the same file. */
  readonly remove?: boolean
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: MoveProgress) => void
}

/** What was exported. */
export interface ExportReport {
  readonly jobs: number
  /** Running jobs, and the other jobs of their workflows, are left out. */
  readonly leftOut: number
  readonly unreadable: readonly string[]
  /** False if the signal ended it. */
  readonly isComplete: boolean
}

const jobsPerPage = 500
const factsPerPage = 1_000

/** Writes everything that a queue knows about its jobs as JSON lines. */
export async function exportJobs(options: ExportOptions): Promise<ExportReport> {
  const { from, to, remove = false } = options
  if (remove && typeof to !== 'string') throw new TreadleError('CONFIG_INVALID', 'remove needs a file: name one with "to"')
  await using side = await openSource(from)
  const header = newHeader(side.source.kind)
  await using file = typeof to === 'string' ? await openExportFile(to, header, remove) : new ExportFile(header, to)
  await file.begin()
  return await (remove ? takeOut(side.source, file, options) : copy(side.source, file, options))
}

function newHeader(kind: string): FileHeader {
  const now = systemClock.now()
  return { treadle: 'export', version: fileVersion, id: idMaker(() => now)(), from: kind, at: formatInstant(now) }
}

async function takeOut(source: Source, file: ExportFile, options: ExportOptions): Promise<ExportReport> {
  const { queue = null, signal = new AbortController().signal, onProgress = () => {} } = options
  const times = { live: false, idleMs: 0, settleMs: 0, clock: systemClock }
  const report = await new Mover({ source, target: file.asTarget(), queue, ...times, signal, onProgress }).run()
  if (!signal.aborted) await file.end()
  return { jobs: file.jobs, leftOut: sumOf(report.left), unreadable: report.unreadable, isComplete: !signal.aborted }
}

async function copy(source: Source, file: ExportFile, options: ExportOptions): Promise<ExportReport> {
  const { queue = null, signal, onProgress } = options
  const unreadable: string[] = []
  const total = sumOf(countsOf(await source.store.counts(), queue))
  await copyFacts(source, file)
  let after: string | null = null
  do {
    if (signal?.aborted === true) return { jobs: file.jobs, leftOut: total - file.jobs, unreadable, isComplete: false }
    const request = { queue, createdBefore: Number.MAX_SAFE_INTEGER, after, limit: jobsPerPage }
    const page: Page = await source.transfer.read(request)
    await file.write(linesOf(page))
    unreadable.push(...page.unreadable)
    after = page.after
    onProgress?.({ moved: file.jobs, total: Math.max(total, file.jobs), refused: 0, rate: 0, waitingFor: null })
  } while (after !== null)
  await file.end()
  const leftOut = Math.max(sumOf(countsOf(await source.store.counts(), queue)) - file.jobs, 0)
  return { jobs: file.jobs, leftOut, unreadable, isComplete: true }
}

async function copyFacts(source: Source, file: ExportFile): Promise<void> {
  let after: string | null = null
  do {
    const page: FactPage = await source.transfer.facts({ after, limit: factsPerPage })
    await file.write(page.facts.map((fact) => ({ fact })))
    after = page.after
  } while (after !== null)
}
