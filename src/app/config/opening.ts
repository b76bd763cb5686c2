import { TreadleError } from '../../core/errors.ts'
import { consoleLogger, type Logger } from '../../core/logger.ts'
import { maskedUrl } from '../../core/text/masking.ts'
import { pause, systemClock } from '../../core/time/clock.ts'
import type { JobEvents } from '../../execution/job-events.ts'
import { insideIsolate } from '../../isolation/inside.ts'
import type { OpenUpkeep, Upkeep } from '../../queue/contract/upkeep.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { Sending } from '../dispatching/sending.ts'
import { UnsignedJobs, type UnsignedJobsDeps } from '../workers/unsigned-jobs.ts'
import { type OpenedBackend, openBackend, openUpkeep } from './open-backend.ts'
import { type Settings, settingsOf, type TreadleOptions } from './options.ts'

export const defaultUrl = 'sqlite:treadle.db'

/** Where the queue is and how it is used. `folder` is where relative file names begin. */
export interface Place {
  readonly url: string
  readonly options: TreadleOptions
  readonly folder: string
}

export interface Opened extends OpenedBackend {
  readonly settings: Settings
  readonly sending: Sending
}

export interface WaitOptions {
  readonly signal: AbortSignal
  readonly onWait?: () => void
}

export interface OpeningListener {
  readonly onUnsigned: UnsignedJobsDeps['emit']
  /** Is told what the options say, as soon as they are known. */
  onSettings(settings: Settings): void
  /** Before anything is sent. */
  onOpen(settings: Settings): Promise<void>
  /** When everything is open. */
  onOpened(opened: Opened): void
  readonly telemetry: Telemetry
  readonly events: () => JobEvents
}

/** A queue that is opened when it is first used, once, and tried again at the next use when that failed. */
export class Opening {
  readonly #place: () => Promise<Place>
  readonly #logger: Logger
  readonly #listener: OpeningListener
  #url: string
  #opening: Promise<Opened> | undefined
  #opened: Opened | undefined
  #upkeep: Promise<OpenUpkeep | null> | undefined
  #isRefused = false
  #isClosed = false

  /** A place that is a function is asked when the queue is first used; one that is known is checked at once. */
  constructor(place: Place | (() => Promise<Place>), listener: OpeningListener) {
    this.#listener = listener
    const isKnown = typeof place !== 'function'
    const settings = isKnown ? settingsOf(place.options) : undefined
    if (settings !== undefined) listener.onSettings(settings)
    this.#logger = settings?.logger ?? consoleLogger
    this.#place = isKnown ? () => Promise.resolve(place) : place
    this.#url = isKnown ? urlOf(place) : defaultUrl
  }

  /** Without passwords. A place that was not asked yet is not known. */
  get url(): string {
    return maskedUrl(this.#url)
  }

  /** Where its workers share their state, without passwords; null where the queue itself keeps it. */
  async coordination(): Promise<string | null> {
    const { coordination = null } = (await this.#place()).options
    return typeof coordination === 'string' ? maskedUrl(coordination) : (coordination?.kind ?? null)
  }

  get logger(): Logger {
    return this.#opened?.settings.logger ?? this.#logger
  }

  /** What is open already, for those who cannot wait. */
  get opened(): Opened | undefined {
    return this.#isClosed ? undefined : this.#opened
  }

  /** Where the queue is, and how it is used. */
  place(): Promise<Place> {
    return this.#place()
  }

  /** For the jobs that still run while the program is being closed, what is open stays so until they have ended. */
  async use(): Promise<Opened> {
    return this.opened ?? this.open()
  }

  open(): Promise<Opened> {
    if (this.#isRefused) return Promise.reject(new TreadleError('BACKEND_CLOSED', 'This instance was closed. Make a new one.'))
    this.#opening ??= this.#open().catch((thrown: unknown) => {
      // A database that was not there yet may be there at the next use.
      this.#opening = undefined
      throw thrown
    })
    return this.#opening
  }

  /** As `open`, but a database that cannot be reached is waited for, until the signal aborts. */
  async openWhenReachable({ signal, onWait }: WaitOptions): Promise<Opened> {
    for (let failures = 0; ; failures++) {
      try {
        return await this.open()
      } catch (thrown) {
        if (!isUnreachable(thrown) || signal.aborted) throw thrown
        this.logger.warn(`${thrown.message}; waiting for it`)
        onWait?.()
        // The network's time is not the queue's clock.
        await pause(systemClock, Math.min(firstPauseMs * 2 ** failures, longestPauseMs), signal)
        if (signal.aborted) throw thrown
      }
    }
  }

  /** Looking after the database without opening the queue in it; null where there is none. It is closed with the rest. */
  async upkeep(): Promise<Upkeep | null> {
    const { url, options, folder } = await this.#place()
    const { coordination } = options
    if (typeof coordination === 'object') return coordination.upkeep ?? null
    const backend = this.opened?.backend ?? (coordination === undefined ? options.backend : undefined)
    if (backend !== undefined) return backend.upkeep ?? null
    this.#upkeep ??= openUpkeep(coordination ?? url, folder)
    return this.#upkeep
  }

  /** No more can be opened from here on. */
  refuse(): void {
    this.#isRefused = true
  }

  async close(): Promise<void> {
    this.refuse()
    const opened = await this.#opening?.catch(() => undefined)
    this.#isClosed = true
    await opened?.sending.idle()
    await opened?.backend[Symbol.asyncDispose]()
    await (await this.#upkeep?.catch(() => null))?.[Symbol.asyncDispose]()
  }

  async #open(): Promise<Opened> {
    const place = await this.#place()
    const { url, options, folder } = place
    this.#url = urlOf(place)
    const settings = settingsOf(options)
    this.#listener.onSettings(settings)
    await this.#listener.onOpen(settings)
    const opened = await openBackend(url, settings, folder)
    if (opened.backend.kind === 'memory' && insideIsolate() !== undefined)
      throw new TreadleError('CAPABILITY_MISSING', outOfReach)
    if (opened.keys?.acceptsUnsigned) {
      const unsigned = new UnsignedJobs({ clock: settings.clock, logger: settings.logger, emit: this.#listener.onUnsigned })
      opened.keys.onUnsigned = (identity) => unsigned.accepted(identity)
    }
    const { telemetry, events } = this.#listener
    this.#opened = { ...opened, settings, sending: new Sending(opened, settings, telemetry, events()) }
    this.#listener.onOpened(this.#opened)
    return this.#opened
  }
}

const firstPauseMs = 500
const longestPauseMs = 15_000

function isUnreachable(thrown: unknown): thrown is TreadleError {
  return thrown instanceof TreadleError && thrown.code === 'DATABASE_UNREACHABLE'
}

const outOfReach =
  'A queue in memory belongs to the thread that opened it, and cannot be reached from an isolated handler. Use sqlite:FILE.'

/** An open backend that was given goes before the URL, which is then only a default. */
function urlOf({ url, options }: Place): string {
  return options.backend?.kind ?? url
}
