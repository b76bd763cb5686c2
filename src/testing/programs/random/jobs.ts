import type { FailurePolicy } from '../../../envelope/envelope.ts'
import type { JobSpec, LimitsSpec, ParentSpec, WaitSpec } from '../program.ts'
import type { Chance } from './chance.ts'

const policies = ['fail', 'skip', 'ignore', 'continue', 'rescue'] as const satisfies readonly FailurePolicy[]

/** Times chosen to coincide: several things are due, or expire, at the same instant. */
export const spans = [0, 0, 1, 500, 1_000, 2_000, 5_000] as const

/** What a random program knows about the queue. */
export interface KnownJobs {
  /** The number of the next new job. */
  readonly next: number
  readonly all: readonly number[]
  readonly running: readonly number[]
  readonly waiting: readonly number[]
  readonly ended: readonly number[]
}

/** The same type with members that may be undefined. */
export type Loose<Part> = { readonly [Name in keyof Part]: Part[Name] | undefined }

/** Removes undefined members, because programs are JSON. */
export function compact<Part extends object>(part: Loose<Part>): Part {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined)) as Part
}

/** Mostly an existing job, sometimes one that never existed. */
export function anyJob(chance: Chance, jobs: readonly number[], { all, next }: KnownJobs): number {
  if (jobs.length > 0 && !chance.once(12)) return chance.of(jobs)
  return all.length > 0 && !chance.once(4) ? chance.of(all) : chance.below(next + 2)
}

export function randomPlace(chance: Chance): JobSpec {
  return compact({
    name: chance.rarely(2, () => chance.below(3)),
    queue: chance.rarely(3, () => chance.below(2)),
    priority: chance.rarely(4, () => chance.between(-1, 1)),
    delay: chance.rarely(3, () => chance.of([-1_000, -1, 1, 500, 1_000, 3_000])),
    group: chance.rarely(3, () => chance.below(3)),
    single: chance.rarely(20, () => true),
    payload: chance.rarely(4, () => chance.below(9)),
    tags: chance.rarely(4, () => chance.some(2, () => chance.below(3))),
  })
}

export function randomJob(chance: Chance, id: number, known: KnownJobs): JobSpec {
  const unique = chance.rarely(4, () => chance.below(3))
  return compact({
    id: chance.once(25) ? anyJob(chance, known.all, known) : id,
    ...randomPlace(chance),
    unique,
    until: chance.rarely(unique === undefined ? 20 : 2, () => randomUntil(chance)),
    number: chance.rarely(10, () => chance.below(8)),
    waitsFor: chance.rarely(4, () => chance.some(3, () => randomWait(chance, id, known))),
    longestWait: chance.rarely(6, () => chance.of([0, 500, 2_000])),
    root: chance.rarely(8, () => chance.below(3)),
    parent: chance.rarely(9, () => randomParent(chance, known)),
  })
}

function randomUntil(chance: Chance): JobSpec['until'] {
  return chance.of(['started', 'ended', 'ever', 0, 500, 2_000] as const)
}

/** May also wait for a job that is sent together with it or later. */
function randomWait(chance: Chance, id: number, known: KnownJobs): WaitSpec {
  const on = chance.once(3) ? id + chance.between(-1, 2) : anyJob(chance, known.all, known)
  return compact({
    on: Math.max(on, 0),
    policy: chance.rarely(2, () => chance.of(policies)),
    late: chance.rarely(6, () => 'late'),
  })
}

function randomParent(chance: Chance, known: KnownJobs): ParentSpec {
  return compact({
    id: anyJob(chance, known.running, known),
    free: chance.rarely(4, () => true),
    stale: chance.rarely(15, () => 1),
    key: chance.rarely(2, () => chance.below(3)),
    policy: chance.rarely(2, () => chance.of(policies)),
  })
}

/** Many programs have no limits. */
export function randomLimits(chance: Chance): LimitsSpec | undefined {
  if (chance.once(3)) return undefined
  const rate = () => ({ limit: chance.between(1, 3), perMs: chance.of([500, 2_000]) })
  const limits = () => compact({ concurrency: chance.rarely(4, () => chance.between(1, 3)), rate: chance.rarely(6, rate) })
  const group = () => compact({ concurrency: chance.rarely(2, () => chance.between(1, 2)), rate: chance.rarely(4, rate) })
  const names = [0, 1, 2].map(() => compact({ ...limits(), group: chance.rarely(3, group) }))
  return compact({ names, queues: chance.rarely(3, () => [limits(), limits()]) })
}
