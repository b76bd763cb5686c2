import { treeCounts } from '../../queue/contract/queue-counts.ts'
import type { JobFilter, JobStore } from '../../queue/contract/store.ts'
import { heldLease, jobLink, jobRecord } from './answers.ts'
import { claimRules } from './job-operations.ts'
import { groupOf, idOf, nameOf, ownerOf, rootOf, type Stage, scheduleOf } from './stage.ts'

const mostListed = 1_000
const farFuture = 8.64e15

/** Everything visible in a queue, in the terms of the program. */
export async function snapshot(stage: Stage, extent: Extent): Promise<Readonly<Record<string, unknown>>> {
  const { store } = stage.backend
  const schedules = upTo(extent.schedules).map(scheduleOf)
  const known = new Set((await store.list({ limit: mostListed })).map(({ id }) => id))
  const ids = upTo(extent.jobs)
    .map(idOf)
    .filter((id) => known.has(id))
  return {
    jobs: (await store.list({ limit: mostListed })).map((record) => jobRecord(stage, record)),
    ofNames: await inTurn(upTo(extent.names).map(nameOf), async (job) => [job, await idsIn(store, { job })]),
    ofGroups: await inTurn(upTo(extent.groups).map(groupOf), async (group) => [group, await idsIn(store, { group })]),
    holds: await inTurn(ids, async (id) => [id, await store.holds(id, claimRules(stage.limits))]),
    counts: await store.counts({ oldest: true }),
    paused: [(await store.paused()).queues, (await store.paused()).jobs],
    logs: await inTurn(ids, async (id) => [id, (await store.logs?.read(id, 0, mostListed)) ?? []]),
    links: await inTurn(ids, async (id) => [id, (await store.links(id)).map(jobLink)]),
    trees: await inTurn(upTo(extent.roots).map(rootOf), (root) => treeCounts(store, root)),
    leases: (await store.leases({ owners: upTo(extent.owners).map(ownerOf) })).map((lease) => heldLease(stage, lease)),
    workers: await store.workers.list(),
    numbers: await numbersOf(stage),
    schedules: await store.schedules.list(),
    standings: await store.schedules.standings(),
    occurrences: await inTurn(schedules, (schedule) =>
      store.schedules.occurrences({ schedule, upTo: farFuture, limit: mostListed }),
    ),
  }
}

/** Maximum number of each. */
export interface Extent {
  readonly jobs: number
  readonly names: number
  readonly groups: number
  readonly roots: number
  readonly owners: number
  readonly schedules: number
}

async function idsIn(store: JobStore, filter: Partial<JobFilter>): Promise<readonly string[]> {
  return (await store.list({ ...filter, limit: mostListed })).map(({ id }) => id)
}

async function numbersOf(stage: Stage): Promise<readonly unknown[]> {
  const ids = await stage.numbering.find(stage.numbers)
  return stage.numbers.map((number, index) => `${stage.nameOfNumber(number)}: ${ids[index]}`).sort()
}

async function inTurn<Item, Found>(items: readonly Item[], look: (item: Item) => Promise<Found>): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const item of items) found.push(await look(item))
  return found
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index)
}
