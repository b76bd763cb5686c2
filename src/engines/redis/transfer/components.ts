import type { MovedUnit } from '../../../queue/contract/transfer.ts'
import { keysOf } from '../../../queue/rules/transfer/moved-jobs.ts'
import { Missing } from '../../../queue/units/missing.ts'
import { readHead } from '../units/head.ts'
import { edgeTarget, placeRoot } from '../units/loaded-links.ts'
import type { LoadedQueue } from '../units/loaded-queue.ts'
import { occurrenceName } from '../units/loaded-timeline.ts'
import { field, jobNeeds, list, type Need, range } from '../units/needs.ts'
import { type Rows, waiterOf } from '../units/rows.ts'

/** Loads a job with everything it is linked to and all that leaves with those, one level of the workflow at a time. */
export function wantComponent(queue: LoadedQueue, first: string): void {
  const { rows } = queue
  const found = new Set([first])
  let frontier: readonly string[] = [first]
  while (frontier.length > 0) {
    const tied = tiesOf(rows, frontier)
    frontier = [...new Set(tied)].filter((id) => !found.has(id))
    for (const id of frontier) found.add(id)
  }
  wantBelongings(queue, [...found])
}

/** The ids of all jobs that these wait for, that wait for them, or that belong to the same workflows. */
function tiesOf(rows: Rows, ids: readonly string[]): readonly string[] {
  rows.want(ids.flatMap((id) => [...jobNeeds(id), field('b', id), field('lx', id), range(`et:${id}`)]))
  const places = ids.flatMap((id) => {
    const place = rows.peek(field('p', id))
    return typeof place === 'string' ? [{ id, root: placeRoot(place) }] : []
  })
  const own = places.map(({ id }) => range(`ew:${id}`))
  const trees = [...new Set(places.map(({ root }) => root))].map((root) => range(`root:${root}`))
  rows.want([...own, ...trees])
  const ownEdges = own.flatMap((need) => membersOf(rows, need))
  const waiting = ids.flatMap((id) => membersOf(rows, range(`et:${id}`)))
  rows.want([...ownEdges, ...waiting].map((name) => field('e', name)))
  const targets = ownEdges.flatMap((name) => {
    const edge = rows.peek(field('e', name))
    return typeof edge === 'string' ? (edgeTarget(edge) ?? []) : []
  })
  return [...trees.flatMap((need) => membersOf(rows, need)), ...targets, ...waiting.map(waiterOf)]
}

function membersOf(rows: Rows, need: Need): readonly string[] {
  return (rows.peek(need) as readonly string[] | null | undefined) ?? []
}

/** Loads keys, occurrences and logs. */
function wantBelongings(queue: LoadedQueue, ids: readonly string[]): void {
  const { rows } = queue
  const heads = ids.flatMap((id) => {
    const text = rows.peek(field('h', id))
    return typeof text === 'string' ? [readHead(text)] : []
  })
  const logged = ids.filter((id) => typeof rows.peek(field('lx', id)) === 'string')
  rows.want([
    ...heads.flatMap(({ keyIndex }) => (keyIndex === null ? [] : [field('u', keyIndex), field('ul', keyIndex)])),
    ...heads.flatMap(({ schedule, at }) => (schedule === null ? [] : [field('oc', occurrenceName(schedule, at ?? 0))])),
    ...logged.map((id) => list(`log:${id}`)),
  ])
  wantTimelines(
    queue,
    heads.flatMap(({ schedule }) => schedule ?? []),
  )
}

export function wantTimelines(queue: LoadedQueue, schedules: readonly string[]): void {
  forEachTogether([...new Set(schedules)], (schedule) => queue.timelines.get(schedule))
}

/** Loads what is checked before jobs are stored. */
export function wantPlaces(queue: LoadedQueue, units: readonly MovedUnit[]): void {
  const jobs = units.flatMap((unit) => unit.jobs)
  queue.rows.want(
    jobs.flatMap((job) => [
      ...jobNeeds(job.id),
      ...(job.number === null ? [] : [field('num', String(job.number))]),
      ...keysOf(job).flatMap((index) => [field('u', index), field('ul', index)]),
      ...job.onceKeys.map((key) => field('oh', key)),
      ...(job.occurrence === null ? [] : [field('oc', occurrenceName(job.occurrence.schedule, job.occurrence.at))]),
      ...(job.links?.edges ?? []).filter(({ end }) => end === null).map(({ id }) => range(`et:${id}`)),
    ]),
  )
  wantTimelines(
    queue,
    jobs.flatMap(({ occurrence }) => occurrence?.schedule ?? []),
  )
}

/** Loads whatever is missing for any of them in one go. */
export function forEachTogether<Item>(items: readonly Item[], act: (item: Item) => void): void {
  const needs: Need[] = []
  for (const item of items) {
    try {
      act(item)
    } catch (thrown) {
      if (!(thrown instanceof Missing)) throw thrown
      needs.push(...thrown.needs)
    }
  }
  if (needs.length > 0) throw new Missing(needs)
}
