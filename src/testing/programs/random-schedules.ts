import type { Chance } from './chance.ts'
import type { OccurrenceRef, OccurrenceSpec, ScheduleSpec } from './program.ts'
import { compact, type KnownJobs, randomJob } from './random-jobs.ts'

/** Instants relative to the start of the program: some past, some future, and two of them one millisecond apart. */
const instants = [-1_000, 0, 1, 500, 1_000, 2_000, 5_000, 10_000] as const

export function randomSchedule(chance: Chance): ScheduleSpec {
  return compact({
    schedule: chance.below(3),
    expression: chance.rarely(3, () => chance.below(2)),
    version: chance.rarely(3, () => chance.below(2)),
    definition: chance.rarely(3, () => chance.below(3)),
  })
}

export function randomInstant(chance: Chance): number {
  return chance.of(instants)
}

export function randomOccurrenceRef(chance: Chance): OccurrenceRef {
  return { schedule: chance.below(3), at: randomInstant(chance) }
}

export function randomOccurrence(chance: Chance, id: number, known: KnownJobs): OccurrenceSpec {
  const { parent: _, waitsFor: __, root: ___, delay: ____, longestWait: _____, ...job } = randomJob(chance, id, known)
  return compact({
    ...randomOccurrenceRef(chance),
    job: { ...job, id },
    follows: chance.rarely(3, () => chance.of([null, ...instants])),
    version: chance.rarely(4, () => chance.below(2)),
    registered: chance.rarely(4, () => true as const),
  })
}
