import { isFinal } from '../../../queue/contract/job-state.ts'
import type { StoredJob } from '../../../queue/rules/jobs/job.ts'
import { holdsByState } from '../../../queue/rules/keys/unique-keys.ts'
import { laneOf } from './head.ts'

/** A step of a commit as the script reads it: a letter, and as many texts as that letter takes. */
export type Op = readonly (string | number)[]

/** An entry that a job has in an index. Another value under the same name replaces it. */
interface Entry {
  readonly name: string
  readonly value: string | number
  readonly enter: Op
  readonly leave: Op
}

/** Counts that a job contributes to, by table and field. */
export type Counts = Map<string, number>

/** Updates the indexes from a job's previous position to its current one. Null means that it is in none. */
export function moveBetween(before: StoredJob | null, after: StoredJob | null): readonly Op[] {
  const from = new Map((before === null ? [] : entriesOf(before)).map((entry) => [entry.name, entry]))
  const to = new Map((after === null ? [] : entriesOf(after)).map((entry) => [entry.name, entry]))
  return [
    ...[...from.values()].filter(({ name }) => !to.has(name)).map(({ leave }) => leave),
    ...[...to.values()].filter(({ name, value }) => from.get(name)?.value !== value).map(({ enter }) => enter),
  ]
}

function entriesOf(job: StoredJob): readonly Entry[] {
  const { envelope, state, links } = job
  const { id, number } = envelope
  const entries = [sorted(`of:${envelope.job}`, id, 0)]
  if (state !== 'running') entries.push(sorted(`all:${state}`, id, 0))
  if (envelope.group !== null) entries.push(sorted(`og:${envelope.group}`, id, 0))
  if (number !== null) entries.push(field('num', String(number), id))
  if (links !== null) entries.push(sorted(`root:${links.root}`, id, 0))
  if (job.keyIndex !== null && holdsByState(job)) entries.push(field('u', job.keyIndex, id))
  if (isFinal(state)) entries.push(sorted(`end:${state}`, id, job.finishedAt ?? 0))
  else if (state === 'ready') entries.push(ready(job))
  else if (state === 'scheduled') entries.push(sorted('due', id, job.runAt))
  else if (state === 'blocked') entries.push(sorted('waits', id, links?.givesUpAt ?? 0))
  else {
    entries.push(sorted('run', id, job.leaseExpiresAt))
    if (job.cancelRequested) entries.push(sorted(`stop:${job.owner}`, id, 0))
  }
  return entries
}

function sorted(key: string, id: string, score: number): Entry {
  return { name: `${key}\0${id}`, value: score, enter: ['A', key, score, id], leave: ['R', key, id] }
}

function field(table: string, name: string, value: string): Entry {
  return { name: `${table}\0${name}`, value, enter: ['S', table, name, value], leave: ['D', table, name] }
}

function ready({ envelope, runAt }: StoredJob): Entry {
  const lane = laneOf(envelope)
  const group = envelope.group ?? ''
  const { id } = envelope
  return { name: `${lane}\0${group}\0${id}`, value: runAt, enter: ['Y', lane, group, id, runAt], leave: ['N', lane, group, id] }
}

/** Adds a job's contribution to the counts; `change` is 1 or -1. */
export function countJob(job: StoredJob, change: 1 | -1, counts: Counts, busy: Counts): void {
  const { job: name, queue, group } = job.envelope
  add(counts, `n:${queue}\0${name}\n${job.state}`, change)
  add(counts, `nj:${name}\0${queue}`, change)
  add(counts, `nq\0${queue}`, change)
  add(counts, `ns\0${job.state}`, change)
  if (job.state !== 'running') return
  add(counts, `c\0k\n${name}`, change)
  add(counts, `c\0q\n${queue}`, change)
  if (group !== null) add(busy, `${name}\n${group}`, change)
}

function add(counts: Counts, name: string, change: number): void {
  counts.set(name, (counts.get(name) ?? 0) + change)
}
