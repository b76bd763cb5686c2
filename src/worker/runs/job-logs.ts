import { Batcher } from '../../core/batcher.ts'
import type { LogLevel } from '../../core/logger.ts'
import { loggableJson } from '../../core/text/loggable.ts'
import { masked } from '../../core/text/masking.ts'
import type { Clock, Timer } from '../../core/time/clock.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { type LineLevel, lineText, storedLines } from '../../envelope/log-lines.ts'
import type { ActiveRun } from '../../execution/attempt/active-run.ts'
import type { RunLog } from '../../execution/attempt/run-logger.ts'
import type { Lease } from '../../queue/contract/contract.ts'
import type { LogBounds, LogChunk, LogStore } from '../../queue/contract/stores/log-store.ts'

export interface LogSettings extends LogBounds {
  /** Minimum level of the lines to store. */
  readonly level: LogLevel
}

export interface JobLogsDeps {
  readonly store: LogStore
  readonly keys: KeyRing | null
  readonly clock: Clock
  readonly settings: LogSettings
  readonly onFailed: (what: string, error: unknown) => void
}

/** How long to collect the lines of a running job before storing them. */
const gatherMs = 1_000
const mostChunks = 500
/** A chunk holds at most one `chunkShare`-th of a job's limits, because old lines are dropped by whole chunks. */
const chunkShare = 4
/**
 * Maximum size of lines waiting to be stored. Beyond that lines are dropped, so that they do not fill the memory if the store is
 * slow.
 */
const mostWaitingBytes = 32 * 1024 * 1024
const longestMessage = 8_192
const longestFields = 16_384

/**
 * Stores what jobs log, in batches and separately from the jobs. A line is written about a second after it was logged, and the
 * last lines of a run after its outcome is written. Only stopping the worker waits for this.
 */
export class JobLogs {
  readonly #deps: JobLogsDeps
  readonly #batcher: Batcher<LogChunk, undefined>
  readonly #logs = new WeakMap<ActiveRun, BufferedLog>()
  readonly #waiting = new Set<BufferedLog>()
  #waitingBytes = 0
  #timer: Timer | undefined

  constructor(deps: JobLogsDeps) {
    this.#deps = deps
    this.#batcher = new Batcher(async (chunks) => {
      await deps.store.append(chunks, deps.settings)
      return []
    }, mostChunks)
  }

  /** The log of a run, created when it is first needed. */
  of(run: ActiveRun): RunLog {
    const known = this.#logs.get(run)
    if (known !== undefined) return known
    const { settings, clock } = this.#deps
    const made = new BufferedLog(run.lease, settings, clock, (log) => this.#gather(log))
    this.#logs.set(run, made)
    return made
  }

  /** Called when the outcome of a run is written. If the job is not kept, its lines need not be stored. */
  ended(run: ActiveRun, isKept: boolean): void {
    const log = this.#logs.get(run)
    if (log === undefined || !this.#waiting.has(log)) return
    this.#waiting.delete(log)
    if (isKept) this.#store(log)
  }

  /** Resolves when all lines so far are stored or have failed to be. */
  async flushed(): Promise<void> {
    this.#flush()
    await this.#batcher.idle()
  }

  #gather(log: BufferedLog): void {
    this.#waiting.add(log)
    this.#timer ??= this.#deps.clock.timer(gatherMs, () => this.#flush(), { unref: true })
  }

  #flush(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const logs = [...this.#waiting]
    this.#waiting.clear()
    for (const log of logs) this.#store(log)
  }

  #store(log: BufferedLog): void {
    if (this.#waitingBytes > mostWaitingBytes) {
      log.dropAll()
      return
    }
    for (const { texts, dropped } of log.take()) {
      const { envelope, attempt } = log.lease
      const text = storedLines(texts, envelope, this.#deps.keys)
      const chunk = { id: envelope.id, attempt, lines: texts.length, dropped, text }
      void this.#append(chunk)
    }
  }

  async #append(chunk: LogChunk): Promise<void> {
    const { length } = chunk.text
    this.#waitingBytes += length
    try {
      await this.#batcher.add(chunk)
    } catch (error) {
      this.#deps.onFailed('what jobs have logged could not be stored', error)
    } finally {
      this.#waitingBytes -= length
    }
  }
}

interface Taken {
  readonly texts: readonly string[]
  readonly dropped: number
}

/** The lines of one run that wait to be stored: the newest, up to the limits of a job. */
class BufferedLog implements RunLog {
  readonly lease: Lease
  readonly #settings: LogSettings
  readonly #clock: Clock
  readonly #onLine: (log: BufferedLog) => void
  #texts: string[] = []
  #bytes = 0
  #dropped = 0

  constructor(lease: Lease, settings: LogSettings, clock: Clock, onLine: (log: BufferedLog) => void) {
    this.lease = lease
    this.#settings = settings
    this.#clock = clock
    this.#onLine = onLine
  }

  add(level: LineLevel, message: string, fields?: object): void {
    if (ranks[level] < ranks[this.#settings.level]) return
    const line = { at: this.#clock.now(), level, message: cut(masked(message)), fields: fields ? fieldsText(fields) : null }
    const text = lineText(line)
    this.#texts.push(text)
    this.#bytes += Buffer.byteLength(text)
    // Drop rarely but many at once, because dropping one line costs as much as dropping half of them.
    const { lines, bytes } = this.#settings
    if (this.#texts.length > 2 * lines || this.#bytes > 2 * bytes) this.#drop()
    this.#onLine(this)
  }

  take(): readonly Taken[] {
    this.#drop()
    const { lines, bytes } = this.#settings
    const most = { lines: Math.max(1, Math.floor(lines / chunkShare)), bytes: Math.max(1, Math.floor(bytes / chunkShare)) }
    const taken = parts(this.#texts, most).map((texts, index) => ({ texts, dropped: index === 0 ? this.#dropped : 0 }))
    this.#texts = []
    this.#bytes = 0
    if (taken.length > 0) this.#dropped = 0
    return taken
  }

  dropAll(): void {
    this.#dropped += this.#texts.length
    this.#texts = []
    this.#bytes = 0
  }

  #drop(): void {
    const { lines, bytes } = this.#settings
    let first = Math.max(0, this.#texts.length - lines)
    for (let index = 0; index < first; index++) this.#bytes -= Buffer.byteLength(this.#texts[index] as string)
    while (this.#bytes > bytes && first < this.#texts.length - 1) this.#bytes -= Buffer.byteLength(this.#texts[first++] as string)
    if (first === 0) return
    this.#dropped += first
    this.#texts = this.#texts.slice(first)
  }
}

const ranks: Readonly<Record<LineLevel, number>> = { debug: 0, info: 1, stdout: 1, stderr: 1, warn: 2, error: 3 }

function cut(text: string): string {
  return text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text
}

function fieldsText(fields: object): string {
  const text = loggableJson(fields)
  return text.length > longestFields ? JSON.stringify({ cut: `${text.slice(0, longestMessage)}…` }) : text
}

/** Splits the texts in order into parts of at most this size. */
function parts(texts: readonly string[], most: LogBounds): readonly (readonly string[])[] {
  const found: string[][] = []
  let bytes = 0
  for (const text of texts) {
    const last = found.at(-1)
    const length = Buffer.byteLength(text) + 1
    if (last === undefined || last.length >= most.lines || bytes + length > most.bytes) {
      found.push([text])
      bytes = length
    } else {
      last.push(text)
      bytes += length
    }
  }
  return found
}
