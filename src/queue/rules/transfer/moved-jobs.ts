import { digest } from '../../../core/text/digest.ts'
import { type Envelope, uniqueUntilOf } from '../../../envelope/envelope.ts'
import { finalStates } from '../../contract/job-state.ts'
import type { GoneJobs, MovedEdge, MovedJob, MovedLinks, MovedOccurrence, MovedUnit } from '../../contract/transfer.ts'
import { jobOfKey, scopedKey, unscopedKey } from '../../model/unique-key.ts'
import { newJob, type StoredJob } from '../jobs/job.ts'
import { holdsByState } from '../keys/unique-keys.ts'
import type { StoredOccurrence } from '../schedules/timeline.ts'
import { doomOf, newLinks, type StoredEdge, type StoredLinks } from '../workflows/links.ts'
import { isSuccess } from '../workflows/waiting.ts'

export function movedOccurrence(occurrence: StoredOccurrence): MovedOccurrence {
  return { ...occurrence.record(), storedAt: occurrence.storedAt }
}

export interface KnownOfJob {
  readonly onceKeys: readonly string[]
  readonly holdsLastingKey: boolean
  readonly log: MovedJob['log']
  /** Null if it has been deleted. */
  readonly occurrence: StoredOccurrence | null
}

export function movedJob(job: StoredJob, { onceKeys, holdsLastingKey, occurrence, log }: KnownOfJob): MovedJob {
  const { uniqueKey, uniqueUntil, createdAt } = job.envelope
  return {
    ...routedPart(job.envelope),
    createdAt,
    runAt: job.runAt,
    uniqueKey: uniqueKey === null ? null : scopedKey(job.sentAs, uniqueKey),
    uniqueUntil,
    holdsLastingKey,
    state: job.state,
    ...history(job),
    schedule: job.occurrence?.schedule ?? null,
    occurrence: occurrence === null ? null : movedOccurrence(occurrence),
    onceKeys,
    log,
    links: job.links === null ? null : movedLinks(job.links, job.state),
  }
}

type RoutedPart = Omit<Envelope, 'createdAt' | 'runAt' | 'uniqueKey' | 'uniqueUntil' | 'links'>

/** The part of an envelope that travels as it is. */
function routedPart({
  id,
  number,
  job,
  queue,
  priority,
  singleInstance,
  group,
  identity,
  payload,
  signature,
}: RoutedPart): RoutedPart {
  return { id, number, job, queue, priority, singleInstance, group, identity, payload, signature }
}

type History = Pick<MovedJob, 'attempts' | 'rescues' | 'startedAt' | 'finishedAt' | 'owner' | 'errors'> &
  Pick<MovedJob, 'result' | 'seal' | 'progress' | 'reason'>

/** What has happened to a job. */
function history({ attempts, rescues, startedAt, finishedAt, owner, result, seal, progress, reason, errors }: History): History {
  return { attempts, rescues, startedAt, finishedAt, owner, result, seal, progress, reason, errors }
}

function movedLinks(links: StoredLinks, state: StoredJob['state']): MovedLinks {
  const { root, parent, longestWaitMs, givesUpAt, ending, doom, edges } = links
  return {
    root,
    parent,
    longestWaitMs,
    givesUpAt: state === 'blocked' ? givesUpAt : null,
    ending: state === 'blocked' ? ending : null,
    isDoomed: doom !== null,
    edges: edges.all.map(({ id, job, key, policy, waiting, end }) => ({ id, job, key, policy, waiting, end })),
  }
}

/** The job as this queue stores it. Its links are added once the other jobs of its workflow are known. */
export function placedJob(job: MovedJob, now: number, occurrence: StoredOccurrence | null): StoredJob {
  const { uniqueKey, runAt } = job
  const isWaiting = job.state === 'ready' || job.state === 'scheduled'
  return {
    ...newJob(envelopeOf(job), occurrence),
    keyIndex: uniqueKey === null ? null : digest(uniqueKey),
    sentAs: uniqueKey === null ? job.job : jobOfKey(uniqueKey),
    state: isWaiting ? (runAt > now ? 'scheduled' : 'ready') : job.state,
    runAt,
    ...history(job),
  }
}

function envelopeOf(job: MovedJob): Envelope {
  const { createdAt, runAt, uniqueKey } = job
  return {
    ...routedPart(job),
    createdAt,
    runAt,
    uniqueKey: uniqueKey === null ? null : unscopedKey(uniqueKey),
    uniqueUntil: uniqueUntilOf(job),
    links: null,
  }
}

export function placedLinks(waiterId: string, moved: MovedLinks): StoredLinks {
  const edges = moved.edges.map((edge): StoredEdge => ({ waiterId, ...edge }))
  const { root, parent, longestWaitMs, givesUpAt, ending, isDoomed } = moved
  const links = newLinks(root, parent, longestWaitMs)
  const fatal = isDoomed ? edges.find(isFatal) : undefined
  for (const edge of edges) {
    links.edges.add(edge)
    if (edge.key !== null) links.children.set(edge.key, edge)
  }
  return Object.assign(links, {
    givesUpAt: givesUpAt ?? Number.POSITIVE_INFINITY,
    pending: edges.filter(({ waiting }) => waiting).length,
    doom: fatal === undefined ? null : doomOf(fatal),
    ending,
  })
}

function isFatal({ policy, end }: MovedEdge): boolean {
  return (policy === 'fail' || policy === 'skip') && end !== null && !isSuccess(end)
}

/** The digest of the unique key that the job holds through its state. */
export function heldByState(job: MovedJob): string | null {
  const { uniqueKey, state, startedAt } = job
  return uniqueKey !== null && holdsByState({ envelope: envelopeOf(job), state, startedAt }) ? digest(uniqueKey) : null
}

export function lastingKey({ uniqueKey, holdsLastingKey }: MovedJob): string | null {
  return uniqueKey !== null && holdsLastingKey ? digest(uniqueKey) : null
}

/** Digests of the keys that it holds, or held. */
export function keysOf({ uniqueKey }: MovedJob): readonly string[] {
  return uniqueKey === null ? [] : [digest(uniqueKey)]
}

export function goneOf(root: string, counts: Readonly<Record<StoredJob['state'], number>>): readonly GoneJobs[] {
  return finalStates.flatMap((state) => (counts[state] === 0 ? [] : [{ root, state, jobs: counts[state] }]))
}

export function jobsOf(units: readonly MovedUnit[]): readonly MovedJob[] {
  return units.flatMap(({ jobs }) => jobs)
}
