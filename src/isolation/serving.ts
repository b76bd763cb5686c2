import { isThrown, messageOf, TreadleError } from '../core/errors.ts'
import type { LogFields, LogLevel } from '../core/logger.ts'
import { toJson } from '../core/text/json.ts'
import { loggableJson } from '../core/text/loggable.ts'
import { longestSince, nextTurn, systemClock } from '../core/time/clock.ts'
import { parseDuration } from '../core/time/duration.ts'
import type { JobContext } from '../definition/context.ts'
import type { HandlerFunction } from '../definition/handler.ts'
import { jobLogger } from '../definition/job-logger.ts'
import { SnoozeSignal, thrownBehind } from '../execution/attempt/control.ts'
import { OpenCalls } from '../execution/attempt/open-calls.ts'
import type { InsideChannel } from './channels/inside-channel.ts'
import { type ContextData, type ContextMethod, isolatedContext, lateAnswer } from './crossing-context.ts'
import type { Inside, IsolatedProgram } from './inside.ts'
import { portable } from './portable.ts'
import { packThrown, unpackThrown } from './thrown.ts'
import { type IsolateModules, modulesText, type ToIsolate } from './wire/messages.ts'
import { longestLine } from './wire/parsing.ts'

type Load = (modules: IsolateModules) => Promise<void>

/** Follows the worker's messages until it is told to end. */
export function serve(channel: InsideChannel, inside: Inside, load: Load): void {
  const server = new IsolateServer(channel, inside, load)
  channel.listen((message) => server.receive(message))
}

/**
 * Limits for a handler that never yields to the event loop. Otherwise its messages could fill the worker's memory faster than
 * they are read.
 */
const mostLogsInTurn = 10_000
const mostUnanswered = 100_000

interface Asked {
  readonly resolve: (value: unknown) => void
  readonly reject: (thrown: unknown) => void
}

class IsolateServer {
  readonly #channel: InsideChannel
  readonly #inside: Inside
  readonly #load: Load
  #loading: Promise<IsolateModules | undefined> = Promise.resolve(undefined)
  /** Belongs to the current job. A job that has ended must not act in the name of the next. */
  #controller: AbortController | undefined
  readonly #asked = new Map<number, Asked>()
  #lastCall = 0
  #logsInTurn = 0
  #onBegin: (openMs: number) => void = () => {}

  constructor(channel: InsideChannel, inside: Inside, load: Load) {
    this.#channel = channel
    this.#inside = inside
    this.#load = load
  }

  receive(message: ToIsolate): void {
    switch (message.kind) {
      case 'load':
        this.#channel.watch(message.parent)
        this.#loading = this.#loaded(message.modules)
        return
      case 'run':
        void this.#run(message.program, message.context)
        return
      case 'begin':
        this.#onBegin(message.openMs)
        return
      case 'abort':
        this.#controller?.abort(unpackThrown(message.reason))
        return
      case 'answer':
        this.#take(message.call)?.resolve(message.value)
        return
      case 'refusal':
        this.#take(message.call)?.reject(unpackThrown(message.thrown))
        return
      case 'end':
        void this.#end()
        return
    }
  }

  /** Undefined if loading failed, which was reported to the worker. */
  async #loaded(modules: IsolateModules): Promise<IsolateModules | undefined> {
    try {
      await Promise.race([this.#load(modules), this.#inside.begun])
      this.#inside.isLoading = false
      return modules
    } catch (thrown) {
      this.#channel.post({ kind: 'unloadable', thrown: packThrown(thrown) })
      return undefined
    }
  }

  async #run(program: string, data: ContextData): Promise<void> {
    const controller = new AbortController()
    this.#controller = controller
    const modules = await this.#loading
    if (modules === undefined) return
    let departure: SnoozeSignal | undefined
    const calls = new OpenCalls()
    const context = this.#contextOf(data, program, controller, calls, (delay) => {
      departure = new SnoozeSignal(parseDuration(delay, 'snooze'))
      throw departure
    })
    try {
      controller.signal.throwIfAborted()
      const handler = handlerOf(data.job, program, this.#inside, modules)
      await this.#mayBegin(controller.signal)
      controller.signal.throwIfAborted()
      const result = await handler(context.payload, context)
      await calls.answered()
      this.#controller = undefined
      if (departure !== undefined) throw departure
      this.#return(result, data.job)
    } catch (thrown) {
      if (departure !== undefined && !isThrown(thrown, SnoozeSignal)) context.logger.warn(thrownBehind(departure, thrown))
      this.#controller = undefined
      // Their refusals may arrive while the next job runs here.
      calls.leave(() => {})
      if (departure !== undefined) this.#channel.post({ kind: 'snoozed', delayMs: departure.delayMs })
      else this.#channel.post({ kind: 'threw', thrown: packThrown(thrown) })
    }
  }

  /** Asks last whether the handler may be called, because loading may take long and the machine may have been asleep. */
  async #mayBegin(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const elapsedMs = longestSince(systemClock)
      const openMs = await new Promise<number>((resolve) => {
        this.#onBegin = resolve
        signal.addEventListener('abort', () => resolve(0), { once: true })
        this.#channel.post({ kind: 'ready' })
      })
      if (elapsedMs() < openMs) return
    }
  }

  #contextOf(
    data: ContextData,
    program: string,
    controller: AbortController,
    calls: OpenCalls,
    snooze: JobContext['snooze'],
  ): JobContext<never> {
    const isOver = () => this.#controller !== controller
    const logger = jobLogger((level, message, fields) => {
      if (!isOver()) this.#log(level, message, fields)
    })
    const outOfReach = (word: string) => () => {
      const message = `ctx.${word}() is for handlers in the thread of the worker: this one is isolated`
      throw new TreadleError('DELIVERY_INVALID', message)
    }
    const transaction = async () => outOfReach('transaction')()
    const completeIn = outOfReach('completeIn') as JobContext['completeIn']
    const made = { signal: controller.signal, snooze, transaction, completeIn, logger, log: logger.info }
    const call = async (method: ContextMethod, args: readonly unknown[]) => {
      return isOver() ? lateAnswer(method, data) : this.#call(method, args, data)
    }
    const childProgram = () => meantProgram(data.job, program, this.#inside)[0]?.program as IsolatedProgram
    return isolatedContext(data, made, call, calls, childProgram)
  }

  #log(level: LogLevel, message: string, fields: LogFields | undefined): void {
    if (this.#logsInTurn === 0) {
      void nextTurn().then(() => {
        this.#logsInTurn = 0
      })
    }
    this.#logsInTurn++
    const line = { level, message: message.slice(0, longestLine) }
    const said = fields === undefined ? line : { ...line, fields: loggableJson(fields).slice(0, longestLine) }
    if (this.#logsInTurn < mostLogsInTurn) this.#channel.post({ kind: 'log', ...said })
    if (this.#logsInTurn !== mostLogsInTurn) return
    const dropped = `it has logged ${mostLogsInTurn} lines without a pause: further lines are dropped until it pauses`
    this.#channel.post({ kind: 'log', level: 'warn', message: dropped })
  }

  #call(method: ContextMethod, args: readonly unknown[], { name }: ContextData): Promise<unknown> {
    if (this.#asked.size >= mostUnanswered) {
      const message = `"${name}" has called its context ${mostUnanswered} times without waiting for an answer: await ctx.${method}()`
      throw new TreadleError('DELIVERY_INVALID', message)
    }
    return new Promise((resolve, reject) => {
      const call = ++this.#lastCall
      this.#asked.set(call, { resolve, reject })
      try {
        this.#channel.post({ kind: 'call', call, method, args: args.map(portable) })
      } catch (thrown) {
        this.#asked.delete(call)
        reject(uncopied(args, `${method} of "${name}"`, thrown))
      }
    })
  }

  #take(call: number): Asked | undefined {
    const asked = this.#asked.get(call)
    this.#asked.delete(call)
    return asked
  }

  /**
   * A value that cannot be cloned may still be serializable as JSON, such as an object behind a proxy. Otherwise it is left out,
   * and the problem is reported.
   */
  #return(result: unknown, job: string): void {
    try {
      this.#channel.post({ kind: 'returned', value: portable(result) })
    } catch {
      this.#channel.post({ kind: 'returned', ...jsonOf(result, job) })
    }
  }

  async #end(): Promise<void> {
    await Promise.allSettled(this.#inside.programs.map((program) => program.close()))
    this.#channel.exit()
  }
}

function handlerOf(job: string, url: string, inside: Inside, modules: IsolateModules): HandlerFunction<never, unknown> {
  const [meant] = meantProgram(job, url, inside)
  if (meant !== undefined) return meant.handler
  const where = modulesText(modules)
  const isElsewhere = inside.programs.some((program) => program.find(job)?.fields.handler != null)
  const what = `No job "${job}" is defined${isElsewhere ? ` for ${url}` : ''} by what its isolate loads: ${where}.`
  const advice =
    'Define it when a module is loaded, not in a function that only the program calls, and name that module: .isolate(…, { from: import.meta.url }).'
  throw new TreadleError('JOB_UNKNOWN', `${what} ${advice}`)
}

/** Programs of several queues may define a job with the same name. */
function meantProgram(job: string, url: string, { programs }: Inside) {
  const found = programs.flatMap((program) => {
    const handler = program.find(job)?.fields.handler
    return handler == null ? [] : [{ program, handler }]
  })
  return found.length > 1 ? found.filter(({ program }) => program.url() === url) : found
}

function jsonOf(result: unknown, job: string): { readonly value: unknown; readonly problem?: string } {
  try {
    return { value: JSON.parse(toJson(result, { what: `result of "${job}"`, maxBytes: Number.POSITIVE_INFINITY })) }
  } catch (thrown) {
    return { value: undefined, problem: messageOf(thrown) }
  }
}

/** The error that the worker would have thrown had it received the arguments. */
function uncopied(args: readonly unknown[], what: string, thrown: unknown): unknown {
  try {
    for (const value of args) toJson(value, { what, maxBytes: Number.POSITIVE_INFINITY })
    return thrown
  } catch (problem) {
    return problem
  }
}
