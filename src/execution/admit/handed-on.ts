import { TreadleError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { RepeatedErrors } from '../../core/repeated-errors.ts'
import { type Envelope, type Identity, identityOf } from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { ScopedJob } from '../../envelope/keys/key-scope.ts'
import { parentMarkOf } from '../../envelope/parent-mark.ts'
import { type Dependency, isLateDependency, openResult } from '../../envelope/result-seal.ts'
import { readMessage } from '../../envelope/stored-error.ts'
import { isWaitMark } from '../../envelope/wait-mark.ts'
import type { Lease } from '../../queue/contract/contract.ts'
import { isFinal } from '../../queue/contract/job-state.ts'
import type { JobLink, JobRecord, JobStore } from '../../queue/contract/store.ts'
import { type End, isSuccess, nothingToRescue, verdictOf } from '../../queue/rules/workflows/waiting.ts'
import { isForged, type Outcome } from '../end/outcome.ts'

/** How a job ended, as stored for the job that waits for it. */
export type HandedOn = Pick<JobLink, 'id' | 'state' | 'result' | 'seal'>

/**
 * The result that an end passes on, decrypted. Throws `RESULT_FORGED` if it passes on a success or a result that was not signed
 * with a key for this job, or that belongs to the child of another job than `parentMark` says. Failures pass on neither.
 */
export function openHandedOn(
  { id, state, result, seal }: HandedOn,
  job: Partial<ScopedJob>,
  keys: KeyRing | null,
  parentMark?: string,
): string | null {
  if (keys === null || (state !== 'succeeded' && result === null)) return result
  if (state !== 'succeeded' && state !== 'skipped') {
    throw new TreadleError('RESULT_FORGED', `Job ${id} is ${state}, and still has a result: it was changed in the database`)
  }
  return openResult({ id, outcome: state, result, seal }, job, keys, parentMark)
}

/** The job and queue of a stored job: from the signed text if that can be read. */
export function jobOf({ id, job, queue, identity }: Pick<JobRecord, 'id' | 'job' | 'queue' | 'identity'>): ScopedJob {
  const read = identityOf(id, identity)
  return { job: read?.job ?? job, queue: read?.queue ?? queue }
}

/** A verified job that may have waited for others. */
export type Waiter = Pick<Envelope, 'id' | 'job' | 'queue' | 'identity'>

export interface LinkDeps {
  readonly services: {
    readonly logger: Logger
    readonly errors: RepeatedErrors
    links(waiter: Waiter): Promise<unknown>
  }
}

/** How long to wait before trying again while the database does not answer. */
const lookAgainMs = 1_000

/** Whether a job waits for others, or may. The wait mark is signed; what its row says is not. */
export function waits({ linked }: Pick<Lease, 'linked'>, { waitsFor }: Pick<Identity, 'waitsFor'>): boolean {
  return linked === true || waitsFor !== undefined
}

/** What happens to a job because of the jobs it has waited for; null if it may run. */
export async function heldByLinks({ envelope }: Lease, { services }: LinkDeps): Promise<Outcome | null> {
  try {
    await services.links(envelope)
    return null
  } catch (error) {
    if (isForged(error)) return { kind: 'dead', reason: 'rejected', error }
    services.errors.tryingAgain(services.logger, error, `the jobs that job ${envelope.id} has waited for could not be read`)
    return { kind: 'snooze', delayMs: lookAgainMs }
  }
}

/** The links of a job with decrypted results. Throws `RESULT_FORGED` unless it may use them: see `openHandedOn`. */
export async function openedLinks(
  waiter: Waiter,
  store: JobStore | undefined,
  keys: KeyRing | null,
): Promise<readonly JobLink[] | undefined> {
  const links = await store?.links(waiter.id)
  if (links === undefined || keys === null) return links
  const dependencies = links.filter(({ kind }) => kind === 'dependency')
  refuseOthers(waiter, dependencies)
  refuseUnmet(dependencies)
  return links.map((link) => {
    const place = link.kind === 'child' ? (link.key as string) : dependencies.indexOf(link)
    const error = link.error === null ? null : readMessage(link.error, link.id, keys)
    return { ...link, result: openedLink(link, { waiter: waiter.id, place }, waiter, keys), error }
  })
}

function openedLink(link: JobLink, dependency: Dependency, { job, queue }: Waiter, keys: KeyRing): string | null {
  const isPlain = link.state === 'succeeded' && link.result === null
  if (isPlain && !keys.signsEveryEnd && isLateDependency(dependency, link.seal, { job, queue }, keys)) return null
  const parentMark =
    link.kind === 'child' && link.key !== null ? parentMarkOf({ id: dependency.waiter, key: link.key }) : undefined
  return openHandedOn(link, link.job === null ? {} : { job: link.job }, keys, parentMark)
}

/** Refuses a job that waited for other jobs than those it was signed for. */
function refuseOthers({ id, identity }: Waiter, dependencies: readonly JobLink[]): void {
  const signed = identityOf(id, identity)?.waitsFor
  const isSame = signed === undefined || isWaitMark(signed, dependencies)
  if (!isSame) throw new TreadleError('RESULT_FORGED', `The dependencies of job ${id} were changed in the database`)
}

/**
 * Refuses a job whose dependencies did not end in a way that lets it run, by the same rules as the backend: its being ready is
 * not signed. Only a failure that lets a job continue at once leaves its other dependencies unfinished.
 */
function refuseUnmet(dependencies: readonly JobLink[]): void {
  if (dependencies.some(isReleasing)) return
  const unmet = dependencies.find(
    ({ state, result, onFailure }) => !isEnd(state) || verdictOf(onFailure, { state, result }) !== 'counts',
  )
  if (unmet !== undefined) throw unmetBy(`job ${unmet.id}, which this one waits for, is ${unmet.state}`)
  const rescued = dependencies.filter(({ onFailure }) => onFailure === 'rescue')
  if (rescued.length > 0 && rescued.every(hasSucceeded)) throw unmetBy(nothingToRescue)
}

function unmetBy(why: string): TreadleError {
  const message = `This job may not run yet: its row was changed in the database, or it was replayed without the jobs that it waits for: ${why}`
  return new TreadleError('RESULT_FORGED', message)
}

function hasSucceeded({ state, result }: JobLink): boolean {
  return isEnd(state) && isSuccess({ state, result })
}

function isReleasing({ state, result, onFailure }: JobLink): boolean {
  return isEnd(state) && verdictOf(onFailure, { state, result }) === 'releases'
}

function isEnd(state: JobLink['state']): state is End['state'] {
  return state === 'missing' || isFinal(state)
}
