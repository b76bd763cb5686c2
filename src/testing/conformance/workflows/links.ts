import assert from 'node:assert/strict'
import type { FailurePolicy, Links } from '../../../envelope/envelope.ts'
import type { Lease, Settlement, SettleReceipt } from '../../../queue/contract/contract.ts'
import type { JobState } from '../../../queue/contract/job-state.ts'
import type { JobLink } from '../../../queue/contract/store.ts'
import type { Bench, Wanted } from '../bench.ts'

const longestWaitMs = 86_400_000

/** The links of a job that waits for these. */
export function waitsFor(ids: readonly string[], onFailure: FailurePolicy = 'fail', more: Partial<Links> = {}): Links {
  return { root: ids[0] ?? 'none', parent: null, longestWaitMs, ...more, waitsFor: ids.map((id) => ({ id, onFailure })) }
}

/** The links of a child that this running job creates. */
export function childOf(lease: Lease, key: string, onFailure: FailurePolicy = 'fail'): Links {
  const { token, envelope } = lease
  const parent = { id: envelope.id, token, key, onFailure, longestWaitMs }
  return { root: envelope.id, parent, waitsFor: [], longestWaitMs }
}

/** Sends a job that waits for these. */
export function sendWaiting(
  bench: Bench,
  ids: readonly string[],
  onFailure: FailurePolicy = 'fail',
  more: Wanted = {},
): Promise<string> {
  return bench.sendOne({ links: waitsFor(ids, onFailure), ...more })
}

/** A running job with children of these keys; their ids are in the same order. */
export async function runningParent(
  bench: Bench,
  keys: readonly string[],
  onFailure: FailurePolicy = 'fail',
): Promise<{ readonly parent: Lease; readonly children: readonly string[] }> {
  await bench.send({ job: 'parent' })
  const parent = await bench.claimOne({ jobs: [{ job: 'parent', concurrency: null }] })
  const children = await bench.send(...keys.map((key) => ({ links: childOf(parent, key, onFailure) })))
  return { parent, children }
}

/** Claims exactly this job, whatever else is claimable; the others are returned to their places. */
export async function claimJob(bench: Bench, id: string): Promise<Lease> {
  const leases = await bench.claim({ jobs: ['work', 'parent'].map((job) => ({ job, concurrency: null })) })
  const wanted = leases.find(({ envelope }) => envelope.id === id)
  assert.ok(wanted, `job ${id} should have been claimable`)
  await bench.settle(...leases.filter((lease) => lease !== wanted).map((lease) => bench.snooze(lease)))
  return wanted
}

export async function endJob(bench: Bench, id: string, end: (lease: Lease) => Settlement): Promise<SettleReceipt> {
  const [receipt] = await bench.backend.settle([end(await claimJob(bench, id))])
  return receipt as SettleReceipt
}

/** Claims the job and ends it as succeeded. */
export async function succeed(bench: Bench, id: string, result: string | null = null): Promise<void> {
  await endJob(bench, id, (lease) => bench.done(lease, { keep: true, result }))
}

export async function die(bench: Bench, id: string): Promise<void> {
  await endJob(bench, id, (lease) => bench.dead(lease))
}

export async function assertStates(bench: Bench, expected: Readonly<Record<string, JobState>>): Promise<void> {
  const found: Record<string, JobState> = {}
  for (const id of Object.keys(expected)) found[id] = (await bench.record(id)).state
  assert.deepEqual(found, expected)
}

/** What a job knows about the jobs it waits for, without their ids. */
export async function knownEnds(bench: Bench, id: string): Promise<readonly Pick<JobLink, 'state' | 'result' | 'error'>[]> {
  return (await bench.store.links(id)).map(({ state, result, error }) => ({ state, result, error }))
}
