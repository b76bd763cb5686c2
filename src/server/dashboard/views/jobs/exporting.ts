import { pause, stopwatchOf } from '../../../../core/time/clock.ts'
import type { JobRecord } from '../../../../queue/contract/store.ts'
import { HttpProblem } from '../../../http/wire/http-problem.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { ViewDeps } from '../../deps.ts'
import { type ExportFormat, exportFormats } from '../../shared/export-formats.ts'
import { exportedOf, headingOf, lineOf } from './exported-job.ts'
import { matchingOf } from './matching.ts'
import { termsOf } from './searching.ts'
import { walk } from './walk.ts'

export interface ExportRequest {
  readonly filter: string
  readonly format: string
  /** Whether the viewer may still look. */
  readonly isStillKnown: () => Promise<boolean>
  readonly signal: AbortSignal
}

export interface JobExport {
  readonly format: ExportFormat
  /** The whole list, read while it is sent. Fails if it cannot be completed, so that a part is never taken for the whole. */
  readonly text: AsyncIterable<string>
}

const mostExports = 4
const rowsAtOnce = 200
const slice = { rows: 1_000, bytes: 4 * 1024 * 1024, ms: 50 }

/** Exports all jobs that match a filter, as the viewer may see them. Its reading takes at most half of the time. */
export class JobExports {
  readonly #deps: ViewDeps
  #running = 0

  constructor(deps: ViewDeps) {
    this.#deps = deps
  }

  start(viewer: Viewer, { filter, format: wanted, isStillKnown, signal }: ExportRequest): JobExport {
    const format = exportFormats.find((each) => each === wanted)
    if (format === undefined) {
      throw new HttpProblem('invalid-request', `format must be one of ${exportFormats.join(', ')}, not ${JSON.stringify(wanted)}`)
    }
    const terms = termsOf(filter)
    if (this.#running >= mostExports) {
      throw new HttpProblem('unavailable', 'Too many lists are being exported: try again later', {
        headers: { 'retry-after': '10' },
      })
    }
    const { clock, redaction } = this.#deps
    const matching = matchingOf(terms, clock.now(), redaction)
    return { format, text: this.#lines(viewer, matching, format, { isStillKnown, signal }) }
  }

  async *#lines(
    viewer: Viewer,
    { stored, matches, oldest }: ReturnType<typeof matchingOf>,
    format: ExportFormat,
    { isStillKnown, signal }: Pick<ExportRequest, 'isStillKnown' | 'signal'>,
  ): AsyncGenerator<string> {
    const { store, clock, redaction } = this.#deps
    this.#running++
    try {
      yield headingOf(format)
      let cursor: string | undefined
      do {
        const elapsed = stopwatchOf(clock)
        const found: JobRecord[] = []
        const { next } = await walk(
          store,
          clock,
          { filter: stored, grant: viewer.grant, cursor, oldest, budget: slice, rowsAtOnce },
          (record) => {
            if (matches(record)) found.push(record)
            return 'more'
          },
        )
        const readMs = elapsed()
        cursor = next ?? undefined
        if (found.length > 0) yield found.map((record) => lineOf(exportedOf(record, redaction), format)).join('')
        if (cursor === undefined || signal.aborted) return
        await pause(clock, readMs, signal)
        if (!(await isStillKnown())) throw new HttpProblem('unauthorized', 'The viewer was signed out during an export')
      } while (!signal.aborted)
    } finally {
      this.#running--
    }
  }
}
