import assert from 'node:assert/strict'
import { openMemory } from '../../../engines/memory/index.ts'
import type { QueueBackend } from '../../../queue/contract/contract.ts'
import type { JobLink, JobRecord } from '../../../queue/contract/store.ts'
import type { Packed, Refusal, Transfer } from '../../../queue/contract/transfer.ts'
import { Bench } from '../bench.ts'

export function transferOf({ transfer }: QueueBackend): Transfer {
  assert.ok(transfer, 'the backend has no transfer: declare a gap for this group')
  return transfer
}

/** An in-memory queue next to the one under test, on the same clock. */
export function elsewhere({ clock }: Bench): Bench {
  return new Bench(openMemory({ clock }), clock)
}

export async function pack(bench: Bench, target: Bench, after: string | null = 'j', limit = 100): Promise<Packed> {
  const to = await transferOf(target.backend).identity()
  const request = { target: to, queue: null, createdBefore: Number.MAX_SAFE_INTEGER, limit }
  return transferOf(bench.backend).pack({ ...request, after: after === 'j' ? await startOfJobs(bench) : after })
}

/** The engine's cursor at which schedules end and jobs begin. */
async function startOfJobs(bench: Bench): Promise<string | null> {
  const request = { queue: null, createdBefore: Number.MAX_SAFE_INTEGER, limit: 100 }
  let after: string | null = null
  do after = (await transferOf(bench.backend).read({ ...request, after })).after
  while (after?.startsWith('s') === true)
  return after
}

/** Hands over everything that is not running. Returns what was refused. */
export async function handOver(from: Bench, to: Bench, limit = 100): Promise<readonly Refusal[]> {
  const [source, target] = [transferOf(from.backend), transferOf(to.backend)]
  const refused: Refusal[] = []
  let after: string | null = null
  do {
    const packed: Packed = await pack(from, to, after, limit)
    after = packed.after
    if (packed.parcel === null) continue
    const refusals = await target.unpack(packed.parcel)
    await source.close(
      packed.parcel.id,
      refusals.map(({ id }) => id),
    )
    refused.push(...refusals)
  } while (after !== null)
  return refused
}

/** Copies what is stored alongside the jobs. */
export async function copyFacts(from: Bench, to: Bench, limit = 2): Promise<void> {
  let after: string | null = null
  do {
    const page = await transferOf(from.backend).facts({ after, limit })
    await transferOf(to.backend).learn(page.facts)
    after = page.after
  } while (after !== null)
}

export interface Seen {
  readonly record: JobRecord
  readonly links: readonly JobLink[]
}

/** All jobs with their links, ordered by id. */
export async function seen(bench: Bench): Promise<readonly Seen[]> {
  const records = await bench.store.list({ limit: 1_000 })
  const sorted = [...records].sort((a, b) => (a.id < b.id ? -1 : 1))
  return Promise.all(sorted.map(async (record) => ({ record, links: await bench.store.links(record.id) })))
}
