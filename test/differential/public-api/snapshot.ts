import type { World } from './world.ts'

/** `records` after every operation, `all` now and then. */
export type Extent = 'records' | 'all'

const mostExplained = 6

/** Everything that a program can see of its queue. */
export async function snapshot(world: World, extent: Extent): Promise<unknown> {
  const store = await world.jobs.store()
  const records = await store.list({ limit: 500 })
  world.learn(records.map(({ id }) => id))
  const counts = sorted(await store.counts())
  if (extent === 'records') return { records, counts }
  const open = records.filter(({ finishedAt }) => finishedAt === null).slice(0, mostExplained)
  const linked = records.filter(({ root }) => root !== null)
  return {
    records,
    counts,
    oldest: sorted(await store.counts({ oldest: true })),
    sum: await store.counts({ isSum: true, oldest: true }),
    paused: await store.paused(),
    schedules: await world.jobs.schedules.list(),
    dryRun: await world.jobs.schedules.dryRun(),
    why: await Promise.all(open.map(({ id }) => world.jobs.why(id))),
    logs: await Promise.all(records.slice(0, mostExplained).map(({ id }) => world.jobs.logs(id))),
    links: await Promise.all(linked.map(({ id }) => store.links(id))),
    trees: await Promise.all(
      [...new Set(linked.map(({ root }) => root as string))].map((root) => world.jobs.handle(root).tree()),
    ),
    settled: await Promise.all(records.filter(({ finishedAt }) => finishedAt !== null).map(({ id }) => resultOf(id, world))),
  }
}

async function resultOf(id: string, { jobs }: World): Promise<unknown> {
  try {
    return { result: (await jobs.handle(id).result({ timeout: 1 })) ?? null }
  } catch (refused) {
    return { refused }
  }
}

/** In any order, with or without counts of zero. */
function sorted(counts: readonly { readonly queue: string; readonly job: string; readonly counts: object }[]): unknown {
  return counts
    .filter((each) => Object.values(each.counts).some((count) => count !== 0))
    .toSorted((a, b) => (`${a.queue} ${a.job}` < `${b.queue} ${b.job}` ? -1 : 1))
}
