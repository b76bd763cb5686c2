import type { StoredJob } from '../../../queue/rules/jobs/job.ts'
import type { KeptOnce } from '../../../queue/rules/keys/once-keys.ts'
import type { LastingKey } from '../../../queue/rules/keys/unique-keys.ts'
import type { StoredEdge } from '../../../queue/rules/workflows/links.ts'
import { headText } from './head.ts'
import { edgeName, edgeText, LoadedEdgeList, placeText } from './loaded-links.ts'
import type { LoadedJob, LoadedQueue } from './loaded-queue.ts'
import { occurrenceText } from './loaded-timeline.ts'
import { type Counts, countJob, moveBetween, type Op } from './places.ts'
import { extraText } from './stored-extra.ts'
import { bodyText } from './stored-text.ts'

/** Everything that the rules have changed in the loaded data, as steps of a commit. `stamp` marks the heads that it writes. */
export function writesOf(queue: LoadedQueue, stamp: string): readonly Op[] {
  const ops: Op[] = [...jobWrites(queue, stamp), ...edgeWrites(queue), ...keyWrites(queue), ...scheduleWrites(queue)]
  for (const { job, group, until } of queue.groups.held) ops.push(['H', job, group, until])
  for (const [scope, , counted] of queue.rates.changes()) {
    if (counted !== undefined) ops.push(['P', `rate:${scope}`, JSON.stringify(counted), keptMs(counted.expiresAt, queue.now)])
  }
  for (const { root, state, jobs } of queue.gone) ops.push(['C', 'gone', `${root}\n${state}`, jobs])
  for (const [name, , target] of queue.away.changes())
    ops.push(target === undefined ? ['D', 'away', name] : ['S', 'away', name, target])
  ops.push(...queue.logs.writes)
  if (ops.length === 0) return ops
  for (const scope of queue.freed) ops.push(['F', scope])
  if (queue.wakes) ops.push(['W'])
  return ops
}

/** Whether it adds jobs to the queue, instead of only changing those that are there. */
export function storesJobs(queue: LoadedQueue): boolean {
  for (const id of queue.byId.keys()) if (!queue.loaded.has(id)) return true
  return false
}

/** Generous, because the server's time is not the queue's in tests that move the clock by hand. */
function keptMs(expiresAt: number, now: number): number {
  return Math.ceil(2 * Math.max(0, expiresAt - now)) + 60_000
}

function* jobWrites(queue: LoadedQueue, stamp: string): Iterable<Op> {
  const [counts, busy]: [Counts, Counts] = [new Map(), new Map()]
  const count = (job: StoredJob, change: 1 | -1) => countJob(job, change, counts, busy)
  const ready: StoredJob[] = []
  function* write(id: string, job: StoredJob | undefined): Iterable<Op> {
    const loaded = queue.loaded.get(id)
    const before = loaded && asLoaded(loaded)
    if (loaded !== undefined && before !== undefined && (job === undefined || hasMoved(loaded, job))) {
      count(before, -1)
      if (job === undefined) yield* removal(loaded, before)
      else yield* change(loaded, before, job, stamp)
    } else if (loaded === undefined && job !== undefined) yield* insertion(job, stamp)
    else return
    if (job !== undefined) count(job, 1)
  }
  for (const id of new Set([...queue.loaded.keys(), ...queue.byId.keys()])) {
    const job = queue.byId.get(id)
    if (job?.state === 'ready') ready.push(job)
    else yield* write(id, job)
  }
  // Groups wait in the order in which the rules have made their jobs ready.
  for (const job of ready.sort((a, b) => a.arrival - b.arrival)) yield* write(job.envelope.id, job)
  for (const { id, root, state } of queue.forgotten) yield ['T', root, id, state ?? '']
  for (const [name, change] of counts) if (change !== 0) yield ['C', ...parted(name, '\0'), change]
  for (const [name, change] of busy) if (change !== 0) yield ['B', ...parted(name, '\n'), change]
}

function parted(name: string, seam: string): readonly [string, string] {
  const end = name.indexOf(seam)
  return [name.slice(0, end), name.slice(end + 1)]
}

/** The job as it was loaded. Rules change the job object itself, but never what it was made from. */
function asLoaded({ job, head, place }: LoadedJob): StoredJob {
  const { state, runAt, finishedAt, startedAt, owner, leaseUntil, flags, group, number, priority, queue } = head
  const { singleInstance, uniqueKey, uniqueUntil, createdAt } = head
  const routing = { job: head.job, queue, priority, singleInstance, group, number, uniqueKey, uniqueUntil, createdAt }
  return {
    ...job,
    envelope: { id: job.envelope.id, runAt, ...routing, ...sealless },
    links: place === null ? null : { ...place.links, givesUpAt: place.givesUpAt },
    ...{ state, runAt, finishedAt, startedAt, owner, leaseExpiresAt: leaseUntil, cancelRequested: (flags & 1) !== 0 },
  }
}

const sealless = { identity: '', payload: '', signature: null, links: null }

function hasMoved({ head, place, envelope, ...before }: LoadedJob, job: StoredJob): boolean {
  if (headText(job, head.claim) !== before.headText) return true
  if (extraText(job) !== before.extraText || envelope !== job.envelope) return true
  return placeOf(job, place?.edgeCount ?? 0)?.text !== place?.text
}

/** Its place in a workflow, with the edges that were added in this unit. */
function placeOf(
  job: StoredJob,
  edgeCount: number,
): { readonly text: string; readonly added: readonly StoredEdge[] } | undefined {
  const { links } = job
  if (links === null) return undefined
  const added = links.edges instanceof LoadedEdgeList ? links.edges.added : links.edges.all
  return { text: placeText(links, edgeCount + added.length), added }
}

function* change(loaded: LoadedJob, before: StoredJob, job: StoredJob, stamp: string): Iterable<Op> {
  const { id } = job.envelope
  yield ['S', 'h', id, `${stamp}|${headText(job, loaded.head.claim)}`]
  const extra = extraText(job)
  if (extra !== loaded.extraText) yield extra === null ? ['D', 'x', id] : ['S', 'x', id, extra]
  if (loaded.envelope !== job.envelope) yield ['S', 'b', id, bodyText(job.envelope)]
  yield* placeWrites(job, loaded.place?.edgeCount ?? 0, loaded.place?.text)
  yield* moveBetween(before, job)
}

function* insertion(job: StoredJob, stamp: string): Iterable<Op> {
  const { id } = job.envelope
  yield ['S', 'h', id, `${stamp}|${headText(job, '')}`]
  yield ['S', 'b', id, bodyText(job.envelope)]
  const extra = extraText(job)
  if (extra !== null) yield ['S', 'x', id, extra]
  yield* placeWrites(job, 0, undefined)
  yield* moveBetween(null, job)
}

function* removal({ job }: LoadedJob, before: StoredJob): Iterable<Op> {
  const { id } = job.envelope
  for (const table of ['h', 'b', 'x', 'p', 'ok', 'lx']) yield ['D', table, id]
  yield ['U', `log:${id}`]
  if (job.links !== null) {
    const edges = job.links.edges instanceof LoadedEdgeList ? job.links.edges.stored : []
    for (const edge of edges) yield ['D', 'e', edgeName(edge)]
    yield ['U', `ew:${id}`]
  }
  yield* moveBetween(before, null)
}

function* placeWrites(job: StoredJob, edgeCount: number, before: string | undefined): Iterable<Op> {
  const { id } = job.envelope
  const place = placeOf(job, edgeCount)
  if (place === undefined) return
  if (place.text !== before) yield ['S', 'p', id, place.text]
  for (const [index, edge] of place.added.entries()) {
    yield ['S', 'e', edgeName(edge), edgeText(edge, edgeCount + index)]
    yield ['A', `ew:${id}`, edgeCount + index, edgeName(edge)]
  }
}

function* edgeWrites(queue: LoadedQueue): Iterable<Op> {
  for (const [name, { edge, text, order }] of queue.edges.all) {
    const isGone =
      queue.edges.removed.has(edge) || (queue.loaded.has(edge.waiterId) && queue.byId.get(edge.waiterId) === undefined)
    if (isGone) {
      yield ['D', 'e', name]
      yield ['R', `ew:${edge.waiterId}`, name]
    } else if (edgeText(edge, order) !== text) yield ['S', 'e', name, edgeText(edge, order)]
  }
  for (const [target, edges] of queue.byTarget) {
    const before = queue.openBefore.get(target) ?? []
    for (const edge of edges) if (!before.includes(edgeName(edge))) yield ['A', `et:${target}`, 0, edgeName(edge)]
  }
  for (const [target, before] of queue.openBefore) {
    const after = new Set([...(queue.byTarget.get(target) ?? [])].map(edgeName))
    for (const name of before) if (!after.has(name)) yield ['R', `et:${target}`, name]
  }
}

function* keyWrites(queue: LoadedQueue): Iterable<Op> {
  for (const [index, , key] of queue.lasting.changes()) yield* lastingWrites(index, key)
  for (const [key, , mark] of queue.marks.changes()) yield* markWrites(key, mark)
  for (const [key, , job] of queue.holders.changes()) {
    yield job === undefined ? ['D', 'oh', key] : ['S', 'oh', key, job.envelope.id]
  }
  for (const [job, , keys] of queue.keysOf.changes()) {
    const { id } = job.envelope
    yield keys === undefined || queue.byId.get(id) === undefined ? ['D', 'ok', id] : ['S', 'ok', id, JSON.stringify(keys)]
  }
}

function lastingWrites(index: string, key: LastingKey | undefined): readonly Op[] {
  if (key === undefined) {
    return [
      ['D', 'ul', index],
      ['R', 'ulx', index],
    ]
  }
  const ends = Number.isFinite(key.expiresAt)
  const text = JSON.stringify([key.jobId, ends ? key.expiresAt : null])
  return [['S', 'ul', index, text], ends ? ['A', 'ulx', key.expiresAt, index] : ['R', 'ulx', index]]
}

function markWrites(key: string, mark: KeptOnce | undefined): readonly Op[] {
  if (mark === undefined) {
    return [
      ['D', 'om', key],
      ['R', 'omx', key],
    ]
  }
  return [
    ['S', 'om', key, JSON.stringify([mark.result, mark.seal, mark.expiresAt])],
    ['A', 'omx', mark.expiresAt, key],
  ]
}

function* scheduleWrites(queue: LoadedQueue): Iterable<Op> {
  for (const { name, entry } of queue.rules.schedules.changes(0, Number.POSITIVE_INFINITY).changed) {
    yield ['M', name, entry === null ? queue.now : '']
  }
  for (const [name, , schedule] of queue.schedules.changes()) {
    yield schedule === undefined ? ['D', 'sch', name] : ['S', 'sch', name, JSON.stringify(schedule)]
  }
  const dropped = new Set(queue.timelines.changes().flatMap(([name, , after]) => (after === undefined ? [name] : [])))
  for (const { occurrence, text } of queue.occurrences.all) {
    const { schedule, at } = occurrence
    if (dropped.has(schedule)) continue
    if (queue.occurrences.removed.has(occurrence)) yield ['O', schedule, at, '', '']
    else if (occurrenceText(occurrence) !== text)
      yield ['O', schedule, at, occurrenceText(occurrence), occurrence.hasEnded ? '' : '1']
  }
  for (const occurrence of queue.occurrences.created) {
    const { schedule, at } = occurrence
    if (!dropped.has(schedule)) yield ['O', schedule, at, occurrenceText(occurrence), occurrence.hasEnded ? '' : '1']
  }
  for (const schedule of dropped) yield ['Q', schedule]
}
