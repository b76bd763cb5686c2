import type { Answer } from '../../core/answer.ts'
import { isThrown, messageOf } from '../../core/errors.ts'
import type { JobContext } from '../../definition/context.ts'
import type { Filter, JobDefinition } from '../../definition/definition.ts'
import { type Schema, validate } from '../../definition/schema.ts'
import type { Identity } from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { type AdmissionDeps, type Admitted, admit, type HoldingDeps, heldBack, mayBeHeld } from '../admit/admit.ts'
import { type ScheduledRun, type ScheduledRunDeps, scheduledRun } from '../admit/occurrence.ts'
import { onceMarkOf } from '../admit/once.ts'
import { maxAttemptsOf, timeoutMsOf } from '../attempt-limits.ts'
import { type AdmittedRun, type DeliveryDeps, endForGood, prepareDelivery } from '../end/delivery.ts'
import { outcomeOfDone, outcomeOfFailed } from '../end/end.ts'
import type { Outcome } from '../end/outcome.ts'
import { asWritten } from '../end/repeating.ts'
import { refuseFailure, resultText } from '../end/result.ts'
import type { ActiveRun } from './active-run.ts'
import { type CallingDeps, callHandler } from './calling.ts'
import { type Departure, SnoozeSignal, thrownBehind, WaitSignal } from './control.ts'
import { Deadline } from './deadline.ts'
import { callHooks, quietly } from './hooks.ts'
import { RunContext, type RunServices } from './run-context.ts'
import type { RunTracer } from './run-trace.ts'
import { AbandonedError, type StopReason, stopError } from './stop-reason.ts'

export interface ExecutionDeps
  extends AdmissionDeps,
    HoldingDeps,
    DeliveryDeps,
    CallingDeps,
    Pick<ScheduledRunDeps, 'schedules'> {
  readonly keys: KeyRing | null
  readonly services: RunServices
  /** Null if no traces are collected. */
  readonly tracer?: RunTracer | null
}

const heldByRate = 'the rate of its job, its group or its queue is used up in this worker'

/** Runs one attempt of a leased job and returns what must happen to the job. Never throws. */
export function execute(run: ActiveRun, deps: ExecutionDeps): Promise<Outcome> {
  let admitted: Admitted
  try {
    admitted = admit(run, deps)
  } catch (error) {
    return Promise.resolve({ kind: 'dead', reason: 'rejected', error })
  }
  return runAdmitted(admitted, run, deps)
}

/** Uses only what was claimed and verified, nothing that a handler could have changed. */
function afterFailure(error: unknown, { definition, opened }: Admitted, { lease }: ActiveRun, deps: ExecutionDeps): Outcome {
  return outcomeOfFailed(error, opened.identity, definition, lease.attempt, deps)
}

async function runAdmitted(admitted: Admitted, run: ActiveRun, deps: ExecutionDeps): Promise<Outcome> {
  const { definition, opened } = admitted
  const { identity } = opened
  const { fields } = definition
  const { lease } = run
  try {
    const scheduled = identity.occurrence === null ? null : scheduledRun(identity, lease.envelope.createdAt, deps)
    if (mayBeHeld(lease, identity, scheduled)) {
      const held = await heldBackRun(run, identity, scheduled, deps)
      if (held !== null) return held
      run.scheduled = scheduled
    }
    let { payload } = opened
    if (fields.input !== null) {
      try {
        payload = await validate(fields.input, payload, `payload of "${identity.job}"`, 'PAYLOAD_INVALID')
      } catch (error) {
        return { kind: 'dead', reason: 'rejected', error }
      }
    }
    const context = new RunContext(identity, payload, run, deps.services, maxAttemptsOf(identity, definition))
    const timeoutMs = timeoutMsOf(identity, definition)
    if (timeoutMs !== null) run.deadline = new Deadline(deps.clock, timeoutMs, () => run.stop('timeout'))
    const isFiltered = fields.when.length > 0 || fields.skip.length > 0
    const why = isFiltered ? await filteredBy(definition, payload, context, run) : null
    if (why !== null) return { kind: 'skipped', why }
    if (isCalledOff(run.stopReason)) return calledOff(run.stopReason)
    if (keepsSlot(definition, identity, context.group)) run.keepSlot((overrunMs) => deps.services.overran(run, overrunMs))
    const prepared: AdmittedRun = { run, once: onceMarkOf(identity, definition), opened }
    const refused = fields.delivery === 'at-least-once' ? null : await prepareInTurn(definition, prepared, deps)
    if (refused !== null) return refused
    if (!run.mayBegin) await run.untilItMayBegin()
    if (isCalledOff(run.stopReason)) return calledOff(run.stopReason)
    const outcome = await begun(definition, context, prepared, deps)
    return run.isBegunForGood ? endForGood(outcome, identity) : outcome
  } catch (thrown) {
    if (isCalledOff(run.stopReason)) return calledOff(run.stopReason)
    return afterFailure(causeOf(thrown, run), admitted, run, deps)
  } finally {
    run.deadline?.cancel()
  }
}

/** Like `heldBack`, for a run that may be called off meanwhile. */
async function heldBackRun(
  run: ActiveRun,
  identity: Identity,
  scheduled: ScheduledRun | null,
  deps: ExecutionDeps,
): Promise<Outcome | null> {
  const held = await heldBack({ lease: run.lease, identity, scheduled }, deps, () => isCalledOff(run.stopReason))
  return isCalledOff(run.stopReason) ? calledOff(run.stopReason) : held
}

function begun(definition: JobDefinition, context: RunContext, admitted: AdmittedRun, deps: ExecutionDeps): Promise<Outcome> {
  const { run, opened } = admitted
  deps.services.started(run)
  if (deps.tracer == null) return attempt(definition, context, admitted, deps)
  run.trace = deps.tracer.begin(run.lease, opened.identity)
  return run.trace === null
    ? attempt(definition, context, admitted, deps)
    : run.trace.during(() => attempt(definition, context, admitted, deps))
}

/** Waits for its turn first: that a job begins at most once is written before its handler is called, and is never taken back. */
async function prepareInTurn(definition: JobDefinition, admitted: AdmittedRun, deps: ExecutionDeps): Promise<Outcome | null> {
  const { run } = admitted
  const heldMs = await run.untilItsTurn()
  if (heldMs > 0) return { kind: 'snooze', delayMs: heldMs, why: heldByRate }
  if (isCalledOff(run.stopReason)) return calledOff(run.stopReason)
  return prepareDelivery(definition, admitted, deps)
}

/** Whether others must wait until this run has ended: the limits they wait for count it until it is settled. */
function keepsSlot(
  { fields, concurrency, overlap }: JobDefinition,
  { singleInstance, occurrence, recurrence }: Identity,
  group: string | null,
): boolean {
  if (group !== null && fields.group !== null && fields.group.concurrency !== null) return true
  if (concurrency !== null || singleInstance || fields.maxRunningTimeMs !== null) return true
  return occurrence !== null && (recurrence?.overlap ?? overlap) !== 'allow'
}

/** Why the job must not run; null if all filters let it pass. */
async function filteredBy(
  { fields }: JobDefinition,
  payload: unknown,
  context: JobContext,
  run: ActiveRun,
): Promise<string | null> {
  const ask = (filter: Filter) => run.guard(Promise.resolve(filter(payload as never, context)))
  for (const filter of fields.when) if (!(await ask(filter))) return 'a when() filter returned false'
  for (const filter of fields.skip) if (await ask(filter)) return 'a skip() filter returned true'
  return null
}

async function attempt(
  definition: JobDefinition,
  context: RunContext,
  admitted: AdmittedRun,
  deps: ExecutionDeps,
): Promise<Outcome> {
  const { run } = admitted
  const { onSuccess, finally: last } = definition.fields
  let outcome: Answer<Outcome>
  let result: unknown
  try {
    result = await run.guard(callHandler(definition, context, run, deps))
    if (run.openCalls !== null) await run.guard(run.openCalls.answered())
    const completed = run.transaction === null ? null : await run.transaction.ended()
    outcome = completed?.outcome ?? outcomeOfReturned(result, definition, admitted, deps)
    if (outcome instanceof Promise) outcome = await outcome
  } catch (thrown) {
    const afterwards = run.transaction === null ? null : await run.transaction.afterwards(thrown)
    outcome = afterwards ?? (await failed(thrown, { definition, opened: admitted.opened }, context, run, deps))
  }
  if (onSuccess.length > 0 || last.length > 0)
    await callHooks(outcome, (run.transaction?.completed ?? { result }).result, definition, context, deps.clock)
  run.openCalls?.leave((thrown) => context.logger.warn(`a call of its context failed after it had ended: ${messageOf(thrown)}`))
  return outcome
}

/** The outcome of a handler that has returned and has not ended its job itself. Most can be told at once. */
function outcomeOfReturned(
  result: unknown,
  definition: JobDefinition,
  admitted: AdmittedRun,
  deps: ExecutionDeps,
): Answer<Outcome> {
  const { run } = admitted
  const { output, job } = definition.fields
  if (run.stopReason === 'timeout') throw stopError('timeout', run.lease)
  if (run.departure !== null) throw run.departure
  if (output === null) return outcomeOfResult(result, definition, admitted, deps)
  return checkedResult(output, result, job).then((checked) => outcomeOfResult(checked, definition, admitted, deps))
}

function outcomeOfResult(
  result: unknown,
  { fields }: JobDefinition,
  { run, once, opened }: AdmittedRun,
  deps: ExecutionDeps,
): Answer<Outcome> {
  if (fields.failWhen.length > 0) refuseFailure(result, fields)
  const text = resultText(result, fields.job, deps)
  // Most jobs do not repeat, and need not wait here.
  if (opened.identity.repeat === null) return outcomeOfDone(text, once, null, deps)
  return asWritten(opened, run, deps).then((repeated) => outcomeOfDone(text, once, repeated, deps))
}

function isCalledOff(reason: StopReason | null): reason is Exclude<StopReason, 'timeout'> {
  return reason !== null && reason !== 'timeout'
}

function calledOff(reason: Exclude<StopReason, 'timeout'>): Outcome {
  switch (reason) {
    case 'lost':
      return { kind: 'lost' }
    case 'cancelled':
      return { kind: 'cancelled' }
    case 'shutdown':
      return { kind: 'release' }
  }
}

/** The outcome of a run that threw. A stop request takes precedence, then the handler's own request, then the retry policy. */
async function failed(
  thrown: unknown,
  admitted: Admitted,
  context: RunContext,
  run: ActiveRun,
  deps: ExecutionDeps,
): Promise<Outcome> {
  if (isCalledOff(run.stopReason)) return calledOff(run.stopReason)
  const departure = departureOf(thrown, run)
  if (departure !== null && departure !== thrown) context.logger.warn(thrownBehind(departure, thrown))
  if (isThrown(departure, SnoozeSignal)) return { kind: 'snooze', delayMs: departure.delayMs }
  if (isThrown(departure, WaitSignal)) return { kind: 'wait' }
  const error = causeOf(thrown, run)
  for (const hook of admitted.definition.fields.onError)
    await quietly(() => hook(error, context.payload, context), context, deps.clock)
  return afterFailure(error, admitted, run, deps)
}

/** A handler may catch the signal it left by. If it exceeded its timeout afterwards, it has still failed. */
function departureOf(thrown: unknown, run: ActiveRun): Departure | null {
  if (isThrown(thrown, SnoozeSignal) || isThrown(thrown, WaitSignal)) return thrown
  return run.stopReason === 'timeout' ? null : run.departure
}

/** Whatever a run throws after its timeout, the timeout is the cause. */
function causeOf(thrown: unknown, run: ActiveRun): unknown {
  return run.stopReason === 'timeout' || isThrown(thrown, AbandonedError) ? stopError('timeout', run.lease) : thrown
}

function checkedResult(output: Schema, result: unknown, job: string): Promise<unknown> {
  return validate(output, result, `result of "${job}"`, 'RESULT_INVALID')
}
