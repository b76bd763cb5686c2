import { masked } from '../../../../core/text/masking.ts'
import { totalsOf } from '../../../../queue/contract/queue-counts.ts'
import type { JobRecord } from '../../../../queue/contract/store.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { ViewDeps } from '../../deps.ts'
import type { DeadPage, ErrorGroup } from '../../shared/views/dead.ts'
import { walk } from '../jobs/walk.ts'
import { errorKeyOf, errorMessageOf, normalMessage } from './error-key.ts'

const dayMs = 86_400_000
const days = 7
const mostGroups = 500
const budget = { rows: 5_000, bytes: 32 * 1024 * 1024, ms: 300 }

/** The dead jobs grouped by error, each of them read, as far as one request reads; the page merges later results. */
export async function countedDead(deps: ViewDeps, viewer: Viewer, cursor: string | undefined): Promise<DeadPage> {
  const { store, clock, snapshots } = deps
  const { grant } = viewer
  const found: JobRecord[] = []
  const { next, searched } = await walk(
    store,
    clock,
    { filter: { state: 'dead' }, grant, cursor, budget, rowsAtOnce: 200 },
    (record) => {
      found.push(record)
      return 'more'
    },
  )
  const counts = (await snapshots.counts()).filter((count) => grant.sees(count))
  return { groups: groupsOf(found, clock.now()), total: totalsOf(counts).counts.dead, next, searched }
}

/** Sorted by their newest job, latest first. `weightOf` says how many jobs one of them stands for. */
export function groupsOf(
  records: readonly JobRecord[],
  now: number,
  weightOf: (record: JobRecord) => number = () => 1,
): readonly ErrorGroup[] {
  const groups = new Map<string, JobRecord[]>()
  for (const record of records) {
    const key = errorKeyOf(record)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [record])
    else group.push(record)
  }
  return [...groups]
    .map(([key, members]) => groupOf(key, members, now, weightOf))
    .toSorted((a, b) => b.lastAt - a.lastAt)
    .slice(0, mostGroups)
}

function groupOf(key: string, members: readonly JobRecord[], now: number, weightOf: (record: JobRecord) => number): ErrorGroup {
  const diedAt = ({ finishedAt, createdAt }: JobRecord) => finishedAt ?? createdAt
  const newest = members.reduce((best, each) => (diedAt(each) > diedAt(best) ? each : best))
  const error = newest.errors.at(-1)
  const instants = members.map(diedAt)
  const message = errorMessageOf(newest)
  const weights = members.map(weightOf)
  const isEstimate = weights.some((weight) => weight > 1)
  return {
    key,
    job: newest.job,
    queues: [...new Set(members.map(({ queue }) => queue))],
    reasons: [...new Set(members.map(({ reason }) => reason ?? 'unknown'))],
    code: error?.code ?? null,
    message,
    normal: normalMessage(message),
    sampleId: newest.id,
    sampleStack: error?.stack === undefined ? null : masked(error.stack),
    jobs: Math.round(weights.reduce((sum, weight) => sum + weight, 0)),
    isEstimate,
    firstAt: isEstimate ? null : Math.min(...instants),
    lastAt: Math.max(...instants),
    days: isEstimate
      ? null
      : Array.from({ length: days }, (_, at) => {
          const from = now - (days - at) * dayMs
          return instants.filter((instant) => instant > from && instant <= from + dayMs).length
        }),
  }
}
