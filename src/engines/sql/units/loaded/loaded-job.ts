import { digest } from '../../../../core/text/digest.ts'
import type { Envelope, UniqueUntil } from '../../../../envelope/envelope.ts'
import type { AttemptError } from '../../../../queue/contract/failure.ts'
import { isFinal, type JobState, jobStates } from '../../../../queue/contract/job-state.ts'
import { readErrors } from '../../../../queue/model/spoilt.ts'
import { jobOfKey, unscopedKey } from '../../../../queue/model/unique-key.ts'
import { type StoredJob, unresulted } from '../../../../queue/rules/jobs/job.ts'
import type { StoredOccurrence } from '../../../../queue/rules/schedules/timeline.ts'
import type { StoredLinks } from '../../../../queue/rules/workflows/links.ts'
import { readUntil } from '../../keys/unique-keys.ts'
import type { Lane } from '../../lanes/lanes.ts'
import { handlingOf, readHandling } from '../../rows/handling.ts'
import { type JobChange, type JobRow, rowEnded } from '../../rows/job-row.ts'
import { movedFrom, writeToken } from '../../rows/lease-token.ts'
import { stateNumber } from '../../rows/tables.ts'
import type { LoadedRows } from '../reading/loaded-rows.ts'
import type { Result } from '../reading/row-readers.ts'

/** A job's row in the form that the rules use. What it carries is read only when it is accessed. */
export class LoadedJob implements StoredJob {
  readonly row: JobRow
  readonly loadedEnvelope: Envelope
  readonly keyIndex: string | null
  readonly sentAs: string
  readonly occurrence: StoredOccurrence | null
  envelope: Envelope
  links: StoredLinks | null = null
  state: JobState
  runAt: number
  attempts: number
  rescues: number
  token: string | null
  owner: string | null
  leaseExpiresAt: number
  cancelRequested: boolean
  begun: boolean
  amongOthers: boolean
  reason: string | null
  startedAt: number | null
  finishedAt: number | null
  arrival = 0
  removed = false
  slot = -1
  readonly #rows: LoadedRows
  readonly #carried: Partial<Record<'result' | 'seal' | 'progress', string | null>> = {}
  #errors: readonly AttemptError[] | undefined
  #hasNewErrors = false

  constructor(row: JobRow, lane: Lane, rows: LoadedRows, occurrence: StoredOccurrence | null) {
    this.row = row
    this.#rows = rows
    this.occurrence = occurrence
    this.loadedEnvelope = new LoadedEnvelope(row, lane, rows)
    this.envelope = this.loadedEnvelope
    this.keyIndex = row.unique_key === null ? null : digest(row.unique_key)
    this.sentAs = row.unique_key === null ? lane.job : jobOfKey(row.unique_key)
    this.state = stateOf(row)
    this.runAt = row.run_at
    this.attempts = row.attempts
    this.rescues = rescuesOf(row)
    this.token = this.state === 'running' ? writeToken(row.id, row.lane, row.token ?? '') : null
    this.owner = row.owner
    this.leaseExpiresAt = row.lease_until ?? 0
    this.cancelRequested = row.cancel === 1
    const { begun, amongOthers } = readHandling(row.begun)
    this.begun = begun
    this.amongOthers = amongOthers
    this.reason = row.reason
    this.startedAt = row.started_at
    this.finishedAt = row.finished_at
  }

  get result(): string | null {
    return this.#carried.result === undefined ? this.#left.result : this.#carried.result
  }

  set result(result: string | null) {
    this.#carried.result = result
  }

  get seal(): string | null {
    return this.#carried.seal === undefined ? this.#left.seal : this.#carried.seal
  }

  set seal(seal: string | null) {
    this.#carried.seal = seal
  }

  get progress(): string | null {
    return this.#carried.progress === undefined ? this.#rows.get('body', this.row.id).progress : this.#carried.progress
  }

  set progress(progress: string | null) {
    this.#carried.progress = progress
  }

  get errors(): readonly AttemptError[] {
    this.#errors ??= readErrors(this.row.errors)
    return this.#errors
  }

  set errors(errors: readonly AttemptError[]) {
    this.#errors = errors
    this.#hasNewErrors = true
  }

  /** The columns that differ from the row, without what follows from them. Corrupted data is left as it is until a rule changes it. */
  changed(laneOf: (envelope: Envelope, isRecurring: boolean) => Lane): JobChange {
    const { row } = this
    const change: Record<string, string | number | null> = { ...this.#carried }
    const put = (column: keyof JobChange, value: string | number | null, before: unknown) => {
      // A number that cannot be read equals itself here, so it is not written back.
      if (!Object.is(value, before)) change[column] = value
    }
    put('state', stateNumber[this.state], stateNumber[stateOf(row)])
    put('run_at', this.runAt, row.run_at)
    put('attempts', this.attempts, row.attempts)
    put('rescues', this.rescues, rescuesOf(row))
    put('lease_until', this.state === 'running' ? this.leaseExpiresAt : null, leaseEndOf(row))
    put('cancel', +this.cancelRequested, +(row.cancel === 1))
    put('begun', handlingOf(this), handlingOf(readHandling(row.begun)))
    put('reason', this.reason, row.reason)
    put('started_at', this.startedAt, row.started_at)
    put('finished_at', this.finishedAt, row.finished_at)
    if (this.#hasNewErrors) Object.assign(change, { errors: JSON.stringify(this.errors) })
    if (this.#isLeaseDisowned) put('token', null, row.token)
    if (this.envelope !== this.loadedEnvelope) Object.assign(change, this.#amended(laneOf))
    return change
  }

  #amended(laneOf: (envelope: Envelope, isRecurring: boolean) => Lane): JobChange {
    const { row, envelope } = this
    const { lane } = laneOf(envelope, row.schedule !== null)
    const { identity, payload, signature, group } = envelope
    const change = { lane, grp: group ?? '', identity, payload, signature }
    // The worker that holds the job has a token that names the old lane. The job becomes linked, because the end of a linked job is
    // counted in the lane of its row.
    const isElsewhere = this.state === 'running' && lane !== row.lane
    return isElsewhere ? { ...change, linked: 1, token: movedFrom(row.lane, row.token ?? '') } : change
  }

  /** Only a job whose handler has finished has a result. */
  get #left(): Result {
    return rowEnded(this.row) || this.row.state === stateNumber.blocked ? this.#rows.get('result', this.row.id) : unresulted
  }

  /** Otherwise the row keeps the claim of its last lease: settling that again reports that it was settled. */
  get #isLeaseDisowned(): boolean {
    return this.rescues > rescuesOf(this.row) || (isFinal(stateOf(this.row)) && !isFinal(this.state))
  }
}

/** A class, because there may be thousands of them. */
class LoadedEnvelope implements Envelope {
  readonly id: string
  readonly number: number | null
  readonly job: string
  readonly queue: string
  readonly priority: number
  readonly singleInstance: boolean
  readonly createdAt: number
  readonly runAt: number
  readonly uniqueKey: string | null
  readonly uniqueUntil: UniqueUntil
  readonly group: string | null
  readonly links = null
  readonly #rows: LoadedRows

  constructor(row: JobRow, lane: Lane, rows: LoadedRows) {
    this.id = row.id
    this.number = row.number
    this.job = lane.job
    this.queue = lane.queue
    this.priority = lane.priority
    this.singleInstance = lane.single === 1
    this.createdAt = row.created_at
    this.runAt = row.run_at
    this.uniqueKey = row.unique_key === null ? null : unscopedKey(row.unique_key)
    this.uniqueUntil = readUntil(row.unique_until)
    this.group = lane.grouped === 1 ? row.grp : null
    this.#rows = rows
  }

  get identity(): string {
    return this.#rows.get('body', this.id).identity
  }

  get payload(): string {
    return this.#rows.get('body', this.id).payload
  }

  get signature(): string | null {
    return this.#rows.get('body', this.id).signature
  }
}

/** A state that cannot be read counts as ended. */
function stateOf({ state }: JobRow): JobState {
  return jobStates[state] ?? 'dead'
}

/** Null if it is not leased. */
function leaseEndOf(row: JobRow): number | null {
  return stateOf(row) === 'running' ? (row.lease_until ?? 0) : null
}

/** A negative number written into a row does not let its job outlive more workers. */
function rescuesOf({ rescues }: JobRow): number {
  return Math.max(rescues, 0)
}
