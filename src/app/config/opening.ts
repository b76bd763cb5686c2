import { isUnreachable, TreadleError } from '../../core/errors.ts'
import { consoleLogger, type Logger } from '../../core/logger.ts'
import { maskedUrl } from '../../core/text/masking.ts'
import { pause, systemClock } from '../../core/time/clock.ts'
import type { JobEvents } from '../../execution/job-events.ts'
import { insideIsolate } from '../../isolation/inside.ts'
import { coordinationMissing } from '../../queue/backend/missing-coordination.ts'
import type { JobStore } from '../../queue/contract/store.ts'
import type { OpenUpkeep, Upkeep } from '../../queue/contract/upkeep.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { Sending } from '../dispatching/sending.ts'
import { UnsignedJobs, type UnsignedJobsDeps } from '../workers/unsigned-jobs.ts'
import { type OpenedBackend, openBackend, openUpkeep } from './open-backend.ts'
import type { TreadleOptions } from './options.ts'
import { type Settings, settingsOf } from './settings.ts'

export const defaultUrl = 'sqlite:treadle.db'

/** Where the queue is and its options. Relative file names are resolved against `folder`. */
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
  /** Called with the parsed options as soon as they are known. */
  onSettings(settings: Settings): void
  /** Called before the backend is opened. */
  onOpen(settings: Settings): Promise<void>
  /** Called when everything is open. */
  onOpened(opened: Opened): void
  readonly telemetry: Telemetry
  readonly events: () => JobEvents
}

/** A queue that opens once, when it is first used. If opening fails, the next use tries again. */
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

  /** A place given as a function is called when the queue is first used. Otherwise, the options are checked immediately. */
  constructor(place: Place | (() => Promise<Place>), listener: OpeningListener) {
    this.#listener = listener
    const isKnown = typeof place !== 'function'
    const settings = isKnown ? settingsOf(place.options) : undefined
    if (settings !== undefined) listener.onSettings(settings)
    this.#logger = settings?.logger ?? consoleLogger
    this.#place = isKnown ? () => Promise.resolve(place) : place
    this.#url = isKnown ? urlOf(place) : defaultUrl
  }

  /** Without passwords. This is the default URL until a place given as a function has been called. */
  get url(): string {
    return maskedUrl(this.#url)
  }

  /** Where workers share their state, without passwords. Null if the queue itself keeps it. */
  async coordination(): Promise<string | null> {
    const { coordination = null } = (await this.#place()).options
    return typeof coordination === 'string' ? maskedUrl(coordination) : (coordination?.kind ?? null)
  }

  get logger(): Logger {
    return this.#opened?.settings.logger ?? this.#logger
  }

  /** The open queue, for callers that cannot await. */
  get opened(): Opened | undefined {
    return this.#isClosed ? undefined : this.#opened
  }

  /** Where the queue is, and its options. */
  place(): Promise<Place> {
    return this.#place()
  }

  /** An open queue stays usable while the program closes, until its running jobs have ended. */
  async use(): Promise<Opened> {
    return this.opened ?? this.open()
  }

  /** Throws `CAPABILITY_MISSING` if the backend has none. */
  async store(): Promise<JobStore> {
    const { backend } = await this.use()
    if (backend.store !== undefined) return backend.store
    throw coordinationMissing(`The ${backend.kind} backend cannot query its queue`)
  }

  open(): Promise<Opened> {
    if (this.#isRefused) return Promise.reject(new TreadleError('BACKEND_CLOSED', 'This instance was closed. Create a new one.'))
    this.#opening ??= this.#open().catch((thrown: unknown) => {
      // The database may be reachable at the next use.
      this.#opening = undefined
      throw thrown
    })
    return this.#opening
  }

  /** Like `open`, but waits for an unreachable database until the signal aborts. */
  async openWhenReachable({ signal, onWait }: WaitOptions): Promise<Opened> {
    for (let failures = 0; ; failures++) {
      try {
        return await this.open()
      } catch (thrown) {
        if (!isUnreachable(thrown) || signal.aborted) throw thrown
        this.logger.warn(`${thrown.message}; waiting for it`)
        onWait?.()
        // Use real time: the network does not follow the queue's clock.
        await pause(systemClock, Math.min(firstPauseMs * 2 ** failures, longestPauseMs), signal)
        if (signal.aborted) throw thrown
      }
    }
  }

  /** Maintenance of the database without opening its queue; null if there is no database. Closed together with the queue. */
  async upkeep(): Promise<Upkeep | null> {
    const { url, options, folder } = await this.#place()
    const { coordination } = options
    if (typeof coordination === 'object') return coordination.upkeep ?? null
    const backend = this.opened?.backend ?? (coordination === undefined ? options.backend : undefined)
    if (backend !== undefined) return backend.upkeep ?? null
    this.#upkeep ??= openUpkeep(coordination ?? url, folder)
    return this.#upkeep
  }

  /** From now on, nothing can be opened. */
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

const outOfReach =
  'A queue in memory belongs to the thread that opened it, and cannot be reached from an isolated handler. Use sqlite:FILE.'

/** An open backend that was passed in takes precedence over the URL, which is then only a default. */
function urlOf({ url, options }: Place): string {
  return options.backend?.kind ?? url
}
