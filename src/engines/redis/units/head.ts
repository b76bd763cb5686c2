import { type Envelope, type UniqueUntil, uniqueUntilOf } from '../../../envelope/envelope.ts'
import { type JobState, jobStates } from '../../../queue/contract/job-state.ts'
import { parsed } from '../../../queue/model/parsed-json.ts'
import type { StoredJob } from '../../../queue/rules/jobs/job.ts'
import { finiteOr, partsIn, textIn, textOrNull } from './stored-text.ts'

/** The stored state that decides about a job: a line that scripts read and write, followed by what rarely changes, as JSON. */
export interface Head {
  readonly stamp: string
  readonly state: JobState
  readonly runAt: number
  readonly attempts: number
  readonly rescues: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly leaseUntil: number
  readonly flags: number
  /** The claim of its last lease. */
  readonly claim: string
  readonly owner: string | null
  readonly job: string
  readonly queue: string
  readonly priority: number
  readonly singleInstance: boolean
  readonly group: string | null
  readonly number: number | null
  readonly createdAt: number
  /** The name under which its unique key is stored. */
  readonly keyIndex: string | null
  readonly uniqueKey: string | null
  readonly uniqueUntil: UniqueUntil
  readonly schedule: string | null
  readonly at: number | null
  /** The name it was sent with, which may differ from its current one. */
  readonly sentAs: string
}

export const flag = { cancelRequested: 1, begun: 2, amongOthers: 4 } as const

/** Scripts refer to states by their index in this list. */
function stateCode(state: JobState): string {
  return String(jobStates.indexOf(state))
}

/**
 * Always returns a head, even for corrupted data. Invalid counts become NaN or stay negative, so that verification rejects the
 * job; invalid times count as past.
 */
export function readHead(text: string): Head {
  const end = text.includes('\n') ? text.indexOf('\n') : text.length
  const line = text.slice(0, end).split('|')
  const [stamp = '', state, runAt, attempts, rescues, startedAt, finishedAt, leaseUntil, flags, claim = ''] = line
  const owner = line.slice(10).join('|')
  return {
    stamp,
    state: stateOf(state),
    runAt: timeOf(runAt) ?? 0,
    attempts: countIn(attempts),
    rescues: Math.max(0, countIn(rescues)),
    startedAt: timeOf(startedAt),
    finishedAt: timeOf(finishedAt),
    leaseUntil: timeOf(leaseUntil) ?? 0,
    flags: Math.max(0, countIn(flags) || 0),
    claim,
    owner: textOrNull(parsed(owner)),
    ...readRest(text.slice(end + 1)),
  }
}

/** What rarely changes about a job. */
export type Rest = Pick<
  Head,
  | 'job'
  | 'queue'
  | 'priority'
  | 'singleInstance'
  | 'group'
  | 'number'
  | 'createdAt'
  | 'keyIndex'
  | 'uniqueKey'
  | 'uniqueUntil'
  | 'schedule'
  | 'at'
  | 'sentAs'
>

/** Reads the part that rarely changes. */
export function readRest(text: string): Rest {
  const parts = partsIn(text)
  const [job, queue, priority, single, group, number, createdAt, keyIndex, uniqueKey, uniqueUntil, schedule, at, sentAs] = parts
  const isUntil = ['started', 'ended', 'ever'].includes(uniqueUntil as string) || typeof uniqueUntil === 'number'
  return {
    job: textIn(job),
    queue: textIn(queue),
    priority: finiteOr(priority, 0),
    singleInstance: single === 1,
    group: textOrNull(group),
    number: finiteOr(number, null),
    createdAt: finiteOr(createdAt, Number.NaN),
    keyIndex: textOrNull(keyIndex),
    uniqueKey: textOrNull(uniqueKey),
    uniqueUntil: isUntil ? (uniqueUntil as UniqueUntil) : 'ended',
    schedule: textOrNull(schedule),
    at: finiteOr(at, null),
    sentAs: textOrNull(sentAs) ?? textIn(job),
  }
}

/** NaN if it is not an integer. */
export function countIn(text: string | undefined): number {
  return text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
}

function stateOf(code: string | undefined): JobState {
  return (/^\d$/.test(code ?? '') ? jobStates[Number(code)] : undefined) ?? 'dead'
}

/** Everything but the stamp. `claim` is that of its last lease, if it has none now. */
export function headText(job: StoredJob, claim: string): string {
  const flags =
    (job.cancelRequested ? flag.cancelRequested : 0) | (job.begun ? flag.begun : 0) | (job.amongOthers ? flag.amongOthers : 0)
  const line = [
    stateCode(job.state),
    job.runAt,
    job.attempts,
    job.rescues,
    job.startedAt ?? '',
    job.finishedAt ?? '',
    job.leaseExpiresAt,
    flags,
    job.token === null ? claim : claimOf(job.token),
    job.owner === null ? '' : JSON.stringify(job.owner),
  ].join('|')
  const { envelope, keyIndex, sentAs, occurrence } = job
  const { schedule = null, at = null } = occurrence ?? {}
  return `${line}\n${restText(envelope, { keyIndex, sentAs, schedule, at })}`
}

type RestOfJob = Pick<Head, 'keyIndex' | 'sentAs' | 'schedule' | 'at'>

/** The part that rarely changes, without empty trailing values. */
export function restText(envelope: Envelope, { keyIndex, sentAs, schedule, at }: RestOfJob): string {
  const { job, queue, priority, singleInstance, group, number, createdAt, uniqueKey } = envelope
  const uniqueUntil = uniqueUntilOf(envelope)
  const rest: unknown[] = [job, queue, priority, singleInstance ? 1 : 0, group, number, createdAt]
  if (uniqueKey !== null || schedule !== null || uniqueUntil !== 'ended')
    rest.push(keyIndex, uniqueKey, uniqueUntil, schedule, at)
  if (uniqueKey !== null && sentAs !== job) rest.push(sentAs)
  return JSON.stringify(rest)
}

/** A token contains the id of its job. */
export function tokenOf(claim: string, id: string): string {
  return `${claim}.${id}`
}

export function claimOf(token: string): string {
  return token.slice(0, token.indexOf('.'))
}

export function idOf(token: string): string {
  return token.slice(token.indexOf('.') + 1)
}

/**
 * The lane: all jobs that a claim treats alike. The queue comes last, so that two lanes never have the same text, whatever
 * characters it contains.
 */
export function laneOf({ job, priority, singleInstance, group, queue }: LaneFields): string {
  return `${job}\n${priority}\n${singleInstance ? '!' : ' '}${group === null ? ' ' : '&'}\n${queue}`
}

type LaneFields = Pick<Envelope, 'job' | 'priority' | 'singleInstance' | 'group' | 'queue'>

export interface LaneName {
  readonly lane: string
  readonly job: string
  readonly priority: number
  readonly singleInstance: boolean
  readonly isGrouped: boolean
  readonly queue: string
}

export function readLane(lane: string): LaneName {
  const [job = '', priority = '0', flags = '  ', ...queue] = lane.split('\n')
  const [singleInstance, isGrouped] = [flags[0] === '!', flags[1] === '&']
  return { lane, job, priority: Number(priority), singleInstance, isGrouped, queue: queue.join('\n') }
}

function timeOf(text: string | undefined): number | null {
  return text === undefined || text === '' ? null : finiteOr(Number(text), null)
}
