import { finalStates } from '../../../queue/contract/job-state.ts'
import type { FactSpec, OccurrenceRef, OccurrenceSpec, ScheduleSpec } from '../program.ts'
import type { Chance } from './chance.ts'
import { anyJob, compact, type KnownJobs, randomJob } from './jobs.ts'

/** Instants relative to the start of the program: some past, some future, and two of them one millisecond apart. */
const instants = [-1_000, 0, 1, 500, 1_000, 2_000, 5_000, 10_000] as const

/** No job of a program has such a number. A job that came later would stand for two occurrences. */
const neverSent = 10_000

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

/** The same as what this queue knows, or something else. Jobs that are here stay the jobs of the occurrences that they have. */
export function randomFact(chance: Chance, known: KnownJobs): FactSpec {
  const id = anyJob(chance, known.all, known)
  const until = chance.rarely(2, () => randomInstant(chance))
  switch (chance.of(['numbers', 'occurrence', 'occurrence', 'once', 'unique'] as const)) {
    case 'numbers':
      return { kind: 'numbers', next: chance.between(1, 20) }
    case 'occurrence':
      return compact({
        kind: 'occurrence' as const,
        ...randomOccurrenceRef(chance),
        id: known.all.length > 0 && !chance.once(4) ? chance.of(known.all) : neverSent + chance.below(3),
        outcome: chance.rarely(2, () => chance.of(finalStates)),
      })
    case 'once':
      return compact({ kind: 'once' as const, key: chance.below(2), until })
    case 'unique':
      return compact({ kind: 'unique' as const, name: chance.below(3), key: chance.below(3), id, until })
  }
}
