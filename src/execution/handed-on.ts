import type { Lease } from '../backends/contract.ts'
import { isFinal } from '../backends/job-state.ts'
import type { JobLink, JobStore } from '../backends/store.ts'
import { type End, verdictOf } from '../backends/waiting.ts'
import { messageOf, TreadleError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { KeyRing } from '../envelope/key-ring.ts'
import { isLateDependency, verifyResult } from '../envelope/result-seal.ts'
import { isForged, type Outcome } from './outcome.ts'

/** How a job has ended, as it is stored where another one finds it. */
export type HandedOn = Pick<JobLink, 'id' | 'state' | 'result' | 'seal'>

/** Throws `RESULT_FORGED` where an end hands on a success or a result that nobody has signed. Failures hand on neither. */
export function verifyHandedOn({ id, state, result, seal }: HandedOn, keys: KeyRing): void {
  if (state !== 'succeeded' && result === null) return
  if (state !== 'succeeded' && state !== 'skipped') {
    throw new TreadleError(
      'RESULT_FORGED',
      `Job ${id} is ${state}, and has a result all the same: it was changed in the database`,
    )
  }
  verifyResult({ id, outcome: state, result, seal }, keys)
}

export interface LinkDeps {
  readonly services: { readonly logger: Logger; links(id: string): Promise<unknown> }
}

/** While the database does not answer, this one looks again after so long. */
const lookAgainMs = 1_000

/** What becomes of a job because of what it has waited for, or null where it may run with that. */
export async function heldByLinks({ linked, envelope: { id } }: Lease, { services }: LinkDeps): Promise<Outcome | null> {
  if (linked !== true) return null
  try {
    await services.links(id)
    return null
  } catch (error) {
    if (isForged(error)) return { kind: 'dead', reason: 'rejected', error }
    services.logger.error(`what job ${id} has waited for could not be looked up: ${messageOf(error)}; trying again`)
    return { kind: 'snooze', delayMs: lookAgainMs }
  }
}

/** The links of a job, for whoever is to go on with what they say. */
export async function verifiedLinks(
  id: string,
  store: JobStore | undefined,
  keys: KeyRing | null,
): Promise<readonly JobLink[] | undefined> {
  const links = await store?.links(id)
  if (links !== undefined && keys !== null) verifyLinks(id, links, keys)
  return links
}

/** Throws `RESULT_FORGED` unless this job may go on with what it has waited for: see `verifyHandedOn`. */
function verifyLinks(waiter: string, links: readonly JobLink[], keys: KeyRing): void {
  const dependencies = links.filter(({ kind }) => kind === 'dependency')
  refuseUnended(dependencies)
  for (const link of links) {
    const place = link.kind === 'child' ? (link.key as string) : dependencies.indexOf(link)
    const isPlain = link.state === 'succeeded' && link.result === null
    if (!isPlain || !isLateDependency({ waiter, place }, link.seal, keys)) verifyHandedOn(link, keys)
  }
}

/** Only a failure that lets a job go on at once leaves the rest of its dependencies behind. */
function refuseUnended(dependencies: readonly JobLink[]): void {
  const unended = dependencies.find(({ state }) => !isEnd(state))
  if (unended === undefined || dependencies.some(isReleasing)) return
  const what = `Job ${unended.id}, which this one waits for, is ${unended.state}`
  throw new TreadleError('RESULT_FORGED', `${what}: that it may run was changed in the database`)
}

function isReleasing({ state, result, onFailure }: JobLink): boolean {
  return isEnd(state) && verdictOf(onFailure, { state, result }) === 'releases'
}

function isEnd(state: JobLink['state']): state is End['state'] {
  return state === 'missing' || isFinal(state)
}
