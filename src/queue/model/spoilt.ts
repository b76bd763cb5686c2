import type { OnceMark } from '../contract/contract.ts'
import type { AttemptError } from '../contract/failure.ts'
import { type FinalState, isFinal, type JobState, jobStates } from '../contract/job-state.ts'
import type { JobRecord } from '../contract/store.ts'
import type { End } from '../rules/workflows/waiting.ts'
import { parsed } from './parsed-json.ts'

const latestMs = 8.64e15

/** The columns of a job's row that anyone with write access to the table may have spoilt. */
export interface SpoilableRow {
  readonly state: unknown
  readonly payload: unknown
  readonly result: unknown
  readonly progress: unknown
  readonly attempts: unknown
  readonly rescues: unknown
  readonly reason: unknown
  readonly errors: unknown
  readonly created_at: unknown
  readonly run_at: unknown
  readonly started_at: unknown
  readonly finished_at: unknown
  readonly lease_until: unknown
  readonly identity: unknown
  readonly signature: unknown
  readonly seal: unknown
  readonly schedule: unknown
  readonly parent: unknown
  readonly root: unknown
  readonly owner: unknown
}

type SoundFields = Pick<
  JobRecord,
  | 'state'
  | 'payload'
  | 'result'
  | 'progress'
  | 'attempts'
  | 'rescues'
  | 'reason'
  | 'errors'
  | 'createdAt'
  | 'runAt'
  | 'startedAt'
  | 'finishedAt'
  | 'leaseExpiresAt'
  | 'identity'
  | 'signature'
  | 'seal'
  | 'schedule'
  | 'parent'
  | 'root'
  | 'owner'
  | 'spoilt'
>

/** Whether the other parts of a record exist: the job's identity and its lane. */
export interface Sound {
  readonly hasIdentity: boolean
  readonly hasLane: boolean
}

/** Reads these columns into values that can always be shown, together with a list of faults. */
export function soundFields(row: SpoilableRow, { hasIdentity, hasLane }: Sound): SoundFields {
  const reader = new RowReader()
  if (!hasLane) reader.fault('its lane does not exist')
  if (!hasIdentity) reader.fault('its identity is not one that this version of Treadle writes')
  const fields = {
    state: reader.state(row.state),
    payload: reader.json(row.payload, 'payload'),
    result: reader.jsonOrNull(row.result, 'result'),
    progress: reader.jsonOrNull(row.progress, 'progress'),
    attempts: reader.count(row.attempts, 'attempts'),
    rescues: reader.count(row.rescues, 'rescues'),
    reason: reader.textOrNull(row.reason, 'reason'),
    errors: reader.errors(row.errors),
    createdAt: reader.time(row.created_at, 'created_at'),
    runAt: reader.time(row.run_at, 'run_at', -latestMs),
    startedAt: reader.timeOrNull(row.started_at, 'started_at'),
    finishedAt: reader.timeOrNull(row.finished_at, 'finished_at'),
    leaseExpiresAt: reader.timeOrNull(row.lease_until, 'lease_until'),
    identity: typeof row.identity === 'string' ? row.identity : '',
    signature: reader.textOrNull(row.signature, 'signature'),
    seal: reader.textOrNull(row.seal, 'seal'),
    schedule: reader.textOrNull(row.schedule, 'schedule'),
    parent: reader.textOrNull(row.parent, 'parent'),
    root: reader.textOrNull(row.root, 'root'),
    owner: reader.textOrNull(row.owner, 'owner'),
  }
  return reader.faults === undefined ? fields : { ...fields, spoilt: reader.faults }
}

/** Collects the faults of a row that something else has written to, and substitutes values that can be shown. */
class RowReader {
  readonly #faults: string[] = []

  /** Undefined if the row is sound. */
  get faults(): readonly string[] | undefined {
    return this.#faults.length === 0 ? undefined : this.#faults
  }

  fault(what: string): void {
    this.#faults.push(what)
  }

  state(value: unknown): JobState {
    const state = typeof value === 'number' ? jobStates[value] : undefined
    if (state === undefined) this.fault('its state is not known')
    return state ?? 'dead'
  }

  /** An instant that can be formatted as a date. Only a job may be due before 1970: nothing has happened then. */
  time(value: unknown, column: string, earliest = 0): number {
    if (isTime(value) && value >= earliest) return Math.trunc(value)
    this.fault(`its ${column} is not a time`)
    return typeof value === 'number' && value > 0 ? latestMs : 0
  }

  timeOrNull(value: unknown, column: string): number | null {
    return value === null || value === undefined ? null : this.time(value, column)
  }

  count(value: unknown, column: string): number {
    if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)) return value
    this.fault(`its ${column} is not a whole number`)
    return 0
  }

  text(value: unknown, column: string): string {
    if (typeof value === 'string') return value
    this.fault(`its ${column} is not a text`)
    return ''
  }

  textOrNull(value: unknown, column: string): string | null {
    return value === null || value === undefined ? null : this.text(value, column)
  }

  /** A JSON text. Invalid JSON is still shown. */
  json(value: unknown, column: string): string {
    const text = this.text(value, column)
    if (typeof value === 'string' && parsed(text) === undefined) this.fault(`its ${column} is not JSON`)
    return text
  }

  jsonOrNull(value: unknown, column: string): string | null {
    return value === null || value === undefined ? null : this.json(value, column)
  }

  errors(value: unknown): readonly AttemptError[] {
    if (value === null || value === undefined) return []
    const errors = errorsIn(value)
    if (errors === undefined) this.fault('its errors are not a list of errors')
    return errors ?? []
  }
}

/** The errors of a row, in a form that can be appended to; empty if they are spoilt. */
export function readErrors(value: unknown): readonly AttemptError[] {
  return value === null || value === undefined ? [] : (errorsIn(value) ?? [])
}

/** Like `readErrors`, for a list that is already parsed. */
export function soundErrors(list: unknown): readonly AttemptError[] {
  return Array.isArray(list) && list.every(isError) ? list : []
}

function errorsIn(value: unknown): readonly AttemptError[] | undefined {
  const list = typeof value === 'string' ? parsed(value) : undefined
  return Array.isArray(list) && list.every(isError) ? list : undefined
}

function isError(value: unknown): value is AttemptError {
  if (typeof value !== 'object' || value === null) return false
  const { attempt, at, message } = value as Readonly<Record<string, unknown>>
  return typeof attempt === 'number' && typeof at === 'number' && Math.abs(at) <= latestMs && typeof message === 'string'
}

/** Like `readOutcome`, for the name of a state. */
export function readOutcomeName(value: unknown): FinalState | null {
  return value === null || value === undefined ? null : readOutcome(jobStates.indexOf(value as JobState))
}

/**
 * How an occurrence ended. One whose outcome cannot be read counts as ended anyway; otherwise its schedule might wait for it
 * forever.
 */
export function readOutcome(value: unknown): FinalState | null {
  if (value === null || value === undefined) return null
  const state = typeof value === 'number' ? jobStates[value] : undefined
  return state !== undefined && isFinal(state) ? state : 'dead'
}

/** Null if it is not a valid time. */
export function readTime(value: unknown): number | null {
  return isTime(value) ? value : null
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= latestMs
}

/** How to end a job once its children have ended. If that is spoilt, the job is kept and its idempotency key is not. */
export function readEnding(text: unknown): { readonly keep: boolean; readonly once: OnceMark | null } {
  const { keep, once } = membersOf(parsed(text))
  return { keep: keep !== false, once: isOnceMark(once) ? once : null }
}

/** How a job that another one waited for ended. An end that cannot be read counts as missing. */
export function readEnd(value: unknown): End | null {
  if (value === null || value === undefined) return null
  const { state, result, seal, error } = membersOf(value)
  const isText = (each: unknown) => each === null || typeof each === 'string'
  const isState = state === 'missing' || (jobStates.includes(state as JobState) && isFinal(state as JobState))
  if (isState && [result, seal, error].every(isText)) return value as End
  return { state: 'missing', result: null, seal: null, error: null }
}

/** Why a job must fail once its handler has finished. */
export function readDoom(text: unknown): { readonly isSkipped: boolean; readonly why: string } {
  const { isSkipped, why } = membersOf(parsed(text))
  return { isSkipped: isSkipped === true, why: typeof why === 'string' ? why : 'a job that it waited for failed' }
}

function isOnceMark(value: unknown): value is OnceMark {
  const { key, keepMs } = membersOf(value)
  return typeof key === 'string' && typeof keepMs === 'number'
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
