import { isFinal } from '../../../queue/contract/job-state.ts'
import type { JobRecord } from '../../../queue/contract/store.ts'
import type { LimitsSpec, Operation, OperationName } from '../program.ts'
import { numberOfId } from '../stage.ts'
import { Chance } from './chance.ts'
import { compact, type KnownJobs, randomLimits } from './jobs.ts'
import { type Choosing, choices } from './operations.ts'

export interface RandomProgramOptions {
  readonly seed: number
  /** Average number of operations; 30 by default. */
  readonly length?: number
  /** Operations to leave out. */
  readonly without?: readonly OperationName[]
}

/** Chooses operations one by one according to the current state, so that most of them change something. */
export class RandomProgram {
  readonly limits: LimitsSpec | undefined
  readonly length: number
  readonly #chance: Chance
  readonly #weights: Readonly<Partial<Record<OperationName, number>>>
  /** Mixes the order of eight ids: those of jobs from several machines do not always rise. */
  readonly #disorder: number
  #made = 0

  constructor({ seed, length = 30, without = [] }: RandomProgramOptions) {
    this.#chance = new Chance(seed)
    this.length = this.#chance.between(4, Math.max(2 * length - 4, 4))
    this.limits = randomLimits(this.#chance)
    this.#disorder = this.#chance.once(3) ? this.#chance.below(8) : 0
    const chosen = Object.entries(choices).filter(([name]) => !without.some((each) => each === name))
    this.#weights = Object.fromEntries(chosen.map(([name, { weight }]) => [name, weight]))
  }

  /** `records` are all jobs of the queue it runs on. */
  next(records: readonly JobRecord[]): Operation {
    const newId = () => this.#made++ ^ this.#disorder
    return made(this.#chance.weighed(this.#weights), { chance: this.#chance, known: knownJobs(records, this.#made), newId })
  }
}

function made(op: OperationName, choosing: Choosing): Operation {
  return compact({ op, ...choices[op].make(choosing) }) as Operation
}

function knownJobs(records: readonly JobRecord[], next: number): KnownJobs {
  const those = (isMeant: (record: JobRecord) => boolean) => records.filter(isMeant).map(({ id }) => numberOfId(id))
  return {
    next,
    all: those(() => true),
    running: those(({ state }) => state === 'running'),
    waiting: those(({ state }) => state !== 'running' && !isFinal(state)),
    ended: those(({ state }) => isFinal(state)),
  }
}
