import { planDispatch, sealJob, writePayload } from '../app/dispatching/sealing.ts'
import { TreadleError } from '../core/errors.ts'
import { idMaker, randomToken } from '../core/id.ts'
import { consoleLogger, type Logger, soundLogger } from '../core/logger.ts'
import { refuseUnknownOptions } from '../core/options.ts'
import { RepeatedErrors } from '../core/repeated-errors.ts'
import type { Json } from '../core/text/json.ts'
import { type Clock, systemClock } from '../core/time/clock.ts'
import { formatDuration } from '../core/time/duration.ts'
import type { JobDefinition } from '../definition/definition.ts'
import type { DispatchOptions } from '../definition/dispatching/dispatch.ts'
import { noPayload } from '../definition/dispatching/draft.ts'
import type { ChildClass, DefinedJob } from '../definition/dispatching/workflow.ts'
import type { Envelope } from '../envelope/envelope.ts'
import { ActiveRun } from '../execution/attempt/active-run.ts'
import { execute } from '../execution/attempt/execute.ts'
import { stopError } from '../execution/attempt/stop-reason.ts'
import type { Outcome } from '../execution/end/outcome.ts'
import { jobOf } from './given-job.ts'

/** Options of `runInline`. */
export interface InlineOptions extends Pick<DispatchOptions, 'queue' | 'meta' | 'retries' | 'maxRetries' | 'timeout'> {
  /** The attempt number that the handler sees; 1 by default. */
  readonly attempt?: number
  /** Cancels the run. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
  readonly logger?: Logger
  /** Called with the progress that the handler reports. */
  readonly onProgress?: (progress: Json) => void
}

// A record, so that the compiler requires an entry for each new option.
const optionNames: Readonly<Record<keyof InlineOptions, true>> = {
  queue: true,
  meta: true,
  retries: true,
  maxRetries: true,
  timeout: true,
  attempt: true,
  signal: true,
  clock: true,
  logger: true,
  onProgress: true,
}

type InlineArguments<Input> = undefined extends Input
  ? [payload?: Input, options?: InlineOptions]
  : [payload: Input, options?: InlineOptions]

const maxBytes = 1024 * 1024
const leaseMs = 30_000

/**
 * Runs a job's handler once, in this process and without a queue, with the schemas, filters, hooks and timeout of a real attempt.
 * Returns the result as `run.result()` would, or throws what the handler threw. Nothing is stored or retried. A class runs with
 * the default settings: give its builder to run it with what was set there.
 */
export function runInline<Input, Result>(job: DefinedJob<Input, Result>, ...args: InlineArguments<Input>): Promise<Result>
export function runInline<Payload, Result>(job: ChildClass<Payload, Result>, ...args: InlineArguments<Payload>): Promise<Result>
export async function runInline(given: unknown, ...args: [payload?: unknown, options?: InlineOptions]): Promise<unknown> {
  const job = jobOf(given, 'runInline')
  const options = args[1] ?? {}
  refuseUnknownOptions(options, Object.keys(optionNames), 'runInline')
  // A key would have to be claimed in a backend, and there is none.
  const definition = job.toDefinition().withIdempotencyKey(null)
  const envelope = await sealed(definition, args.length === 0 ? noPayload : args[0], options)
  return resultOf(await attempt(definition, envelope, options), definition.job)
}

async function sealed(definition: JobDefinition, payload: unknown, options: InlineOptions): Promise<Envelope> {
  const {
    clock = systemClock,
    attempt: _attempt,
    signal: _signal,
    logger: _logger,
    onProgress: _onProgress,
    ...dispatch
  } = options
  const now = () => clock.now()
  const plan = planDispatch(definition, dispatch, now())
  const written = await writePayload(plan, payload, maxBytes)
  return sealJob(plan, written, { now, newId: idMaker(now), keys: null })
}

async function attempt(definition: JobDefinition, envelope: Envelope, options: InlineOptions): Promise<Outcome> {
  const { clock = systemClock, logger = consoleLogger, signal, onProgress } = options
  const lease = { token: randomToken(), envelope, attempt: options.attempt ?? 1, expiresAt: clock.now() + leaseMs }
  const run = new ActiveRun(lease, clock)
  const cancel = () => run.stop('cancelled')
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted === true) cancel()
  try {
    const outcome = await execute(run, {
      find: () => definition,
      keys: null,
      coordination: undefined,
      transactions: undefined,
      keepOf: () => keptAlways,
      schedules: undefined,
      environment: null,
      clock,
      // Calling a job by hand implies permission to run it.
      allow: { [envelope.queue]: [envelope.job] },
      maxResultBytes: maxBytes,
      isolates: null,
      services: {
        logger: soundLogger(logger),
        errors: new RepeatedErrors(clock),
        started: () => {},
        overran: () => {},
        report: async (_, progress) => onProgress?.(JSON.parse(progress) as Json),
        begin: async () => true,
        extend: async () => true,
        children: { definitionOf: refuseChild, dispatch: refuseChild },
        links: () => Promise.reject(noQueue()),
        rootOf: async (id) => id,
        recordOf: async () => null,
      },
    })
    if (outcome.kind === 'cancelled') throw stopError('cancelled', lease)
    return outcome
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
}

/** Irrelevant here, since nothing is stored. */
const keptAlways = { succeeded: 0, dead: 0, cancelled: 0, skipped: 0 }

function resultOf(outcome: Outcome, job: string): unknown {
  switch (outcome.kind) {
    case 'done':
      return outcome.result === null ? undefined : JSON.parse(outcome.result)
    case 'retry':
    case 'dead':
      throw outcome.error
    case 'skipped':
      throw new TreadleError('RUN_FAILED', `Job "${job}" is skipped: ${outcome.why}`)
    case 'snooze':
      throw new TreadleError('RUN_FAILED', `Job "${job}" was snoozed for ${formatDuration(outcome.delayMs)}`)
    case 'wait':
      throw noQueue()
    case 'cancelled':
    case 'release':
    case 'lost':
      throw new TreadleError('RUN_FAILED', `Job "${job}" was stopped`)
  }
}

function refuseChild(): never {
  throw noQueue()
}

function noQueue(): TreadleError {
  const message = 'runInline has no queue for children and dependencies. Dispatch the job and call drain() in its place.'
  return new TreadleError('CAPABILITY_MISSING', message)
}
