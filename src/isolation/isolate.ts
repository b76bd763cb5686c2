import { messageOf, TreadleError } from '../core/errors.ts'
import { randomToken } from '../core/id.ts'
import type { LogFields } from '../core/logger.ts'
import { processId } from '../core/process/environment.ts'
import type { Clock } from '../core/time/clock.ts'
import type { JobContext } from '../definition/context.ts'
import { outputOf } from '../definition/job-logger.ts'
import type { Isolation } from '../definition/policies/isolation.ts'
import { SnoozeSignal } from '../execution/attempt/control.ts'
import type { Channel } from './channels/channel.ts'
import { openProcess } from './channels/process-channel.ts'
import { openThread } from './channels/thread-channel.ts'
import { callContext, contextData } from './crossing-context.ts'
import { crashError, type Death } from './death.ts'
import { portable } from './portable.ts'
import { RunOutput } from './run-output.ts'
import { openFromIsolate } from './sealed.ts'
import { packThrown, unpackThrown } from './thrown.ts'
import type { FromIsolate, IsolateModules, ToIsolate } from './wire/messages.ts'

export interface IsolateSpec extends Pick<Isolation, 'kind' | 'memoryBytes'> {
  readonly modules: IsolateModules
}

export interface IsolateDeps {
  /** The entry file of an isolate. */
  readonly entry: () => URL
  /** The URL of the program whose handlers run, for modules that create several programs. */
  readonly program: string
  readonly clock: Clock
}

/** How long an isolate that is no longer needed may take to exit. */
const endGraceMs = 1_000
/**
 * Maximum number of foreign messages per run. They are ignored, because libraries may send some, but more than this is a
 * malfunction.
 */
const mostForeign = 1_000

interface Current {
  readonly context: JobContext
  readonly begin: () => Promise<number>
  readonly resolve: (result: unknown) => void
  readonly reject: (thrown: unknown) => void
  readonly abort: () => void
}

/** The worker's view of a thread or process that runs one job at a time. */
export class Isolate {
  readonly spec: IsolateSpec
  /** Resolves when the thread or process has ended completely. */
  readonly ended: Promise<void>
  readonly #deps: IsolateDeps
  readonly #channel: Channel
  readonly #token = randomToken()
  readonly #output = new RunOutput()
  #foreign = 0
  #current: Current | undefined
  #isEnding = false
  /** The error that was not caught in the isolate. */
  #uncaught: { readonly thrown: unknown } | undefined

  constructor(spec: IsolateSpec, deps: IsolateDeps) {
    this.spec = spec
    this.#deps = deps
    let resolveEnded = () => {}
    this.ended = new Promise((resolve) => {
      resolveEnded = resolve
    })
    const open = spec.kind === 'thread' ? openThread : openProcess
    this.#channel = open(
      { entry: deps.entry(), memoryBytes: spec.memoryBytes },
      {
        onMessage: (value) => this.#receive(value),
        onOutput: (stream, chunk) => this.#output.write(stream, chunk),
        onEnded: (death) => {
          this.#die(death)
          resolveEnded()
        },
      },
    )
    this.#post({ kind: 'load', modules: spec.modules, parent: processId() })
  }

  /** Whether it can take another job. */
  get isUsable(): boolean {
    return !this.#isEnding && this.#current === undefined
  }

  run(context: JobContext, begin: () => Promise<number>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const abort = () => this.#post({ kind: 'abort', reason: packThrown(context.signal.reason) })
      this.#current = { context, begin, resolve, reject, abort }
      this.#foreign = 0
      this.#output.begin(outputOf(context.logger))
      context.signal.addEventListener('abort', abort)
      this.#channel.hold(true)
      this.#send(context)
    })
  }

  /** Asks the isolate to exit, and kills it if it does not. */
  end(): Promise<void> {
    if (this.#isEnding) return this.ended
    this.#isEnding = true
    this.#post({ kind: 'end' })
    const patience = this.#deps.clock.timer(endGraceMs, () => this.kill(), { unref: true })
    return this.ended.finally(() => patience.cancel())
  }

  kill(): void {
    this.#isEnding = true
    this.#channel.kill()
  }

  #send(context: JobContext): void {
    const data = contextData(context)
    try {
      this.#post({ kind: 'run', program: this.#deps.program, context: { ...data, payload: portable(data.payload) } })
    } catch (thrown) {
      const message = `The payload of "${context.job}" cannot be copied into its ${this.spec.kind}: ${messageOf(thrown)}`
      this.#settle(({ reject }) => reject(new TreadleError('PAYLOAD_INVALID', message, { cause: thrown })))
    }
  }

  #post(message: ToIsolate): void {
    this.#channel.post({ token: this.#token, message })
  }

  #receive(value: unknown): void {
    const message = openFromIsolate(value, this.#token)
    if (message === undefined) this.#ignore()
    else this.#handle(message)
  }

  #log({ level, message, fields }: FromIsolate & { readonly kind: 'log' }): void {
    const logger = this.#current?.context.logger
    if (fields === undefined) logger?.[level](message)
    else logger?.[level](message, fieldsIn(fields))
  }

  #ignore(): void {
    this.#foreign++
    // It has already been killed; these messages were sent before.
    if (this.#foreign > mostForeign) return
    const { context } = this.#current ?? {}
    if (this.#foreign === 1) context?.logger.warn(`its ${this.spec.kind} sent a message that is not Treadle's; it is ignored`)
    if (this.#foreign < mostForeign) return
    const thrown = new TreadleError('ISOLATE_CRASHED', `it sent ${mostForeign} messages that are not Treadle's`)
    this.#uncaught ??= { thrown }
    this.kill()
  }

  #handle(message: FromIsolate): void {
    switch (message.kind) {
      case 'ready':
        void this.#begin()
        return
      case 'call':
        void this.#answer(message.call, () => this.#called(message))
        return
      case 'log':
        this.#log(message)
        return
      case 'returned':
        this.#settle(({ context, resolve }) => {
          if (message.problem !== undefined) context.logger.warn(`${message.problem}; it is not stored`)
          resolve(message.value)
        })
        return
      case 'snoozed':
        this.#settle(({ reject }) => reject(new SnoozeSignal(message.delayMs)))
        return
      case 'threw':
        this.#settle(({ reject }) => reject(unpackThrown(message.thrown)))
        return
      case 'unloadable':
        this.#settle(({ reject }) => reject(unpackThrown(message.thrown)))
        this.kill()
        return
      case 'uncaught':
        this.#uncaught = { thrown: unpackThrown(message.thrown) }
        return
    }
  }

  /** A run that has since been told to stop is notified separately and does not begin. */
  async #begin(): Promise<void> {
    const current = this.#current
    const openMs = await current?.begin().catch(() => undefined)
    if (openMs !== undefined && this.#current === current) this.#post({ kind: 'begin', openMs })
  }

  async #called({ method, args }: FromIsolate & { readonly kind: 'call' }): Promise<unknown> {
    return this.#current && callContext(this.#current.context, method, args)
  }

  async #answer(call: number, ask: () => Promise<unknown>): Promise<void> {
    try {
      this.#post({ kind: 'answer', call, value: portable(await ask()) })
    } catch (thrown) {
      this.#post({ kind: 'refusal', call, thrown: packThrown(thrown) })
    }
  }

  #die(death: Death): void {
    this.#isEnding = true
    this.#output.flush()
    this.#settle(({ context, reject }) => reject(crashError(context.job, this.spec, { ...death, ...this.#uncaught })))
  }

  #settle(act: (current: Current) => void): void {
    const current = this.#current
    if (current === undefined) return
    this.#current = undefined
    current.context.signal.removeEventListener('abort', current.abort)
    this.#channel.hold(false)
    void this.#output.end()
    act(current)
  }
}

/** The text may be invalid, because a handler can send anything. */
function fieldsIn(text: string): LogFields {
  try {
    return Object(JSON.parse(text)) as LogFields
  } catch {
    return { fields: text }
  }
}
