import type { Backlog, BacklogCount } from '../../../queue/contract/backlog.ts'
import { listTubes, statistic, statistics } from '../connection/commands.ts'
import type { Session } from '../connection/session.ts'
import type { TubeNames } from './tube-names.ts'

/** The server's own counters for each tube. */
export class TubeCounts implements Backlog {
  readonly #session: () => Promise<Session>
  readonly #names: TubeNames

  constructor(session: () => Promise<Session>, names: TubeNames) {
    this.#session = session
    this.#names = names
  }

  async counts(): Promise<readonly BacklogCount[]> {
    const session = await this.#session()
    const tubes = (await listTubes(session)).filter((tube) => this.#names.isOurs(tube))
    const counts = await Promise.all(tubes.map((tube) => this.#countsOf(session, tube)))
    return counts.filter(({ ready, scheduled, running, dead }) => ready + scheduled + running + dead > 0)
  }

  /** A tube that has vanished since it was listed is empty. */
  async #countsOf(session: Session, tube: string): Promise<BacklogCount> {
    const text = (await statistics(session, `stats-tube ${tube}`)) ?? ''
    const number = (state: string) => Number(statistic(text, `current-jobs-${state}`) ?? 0)
    return {
      queue: this.#names.queueOf(tube),
      ready: number('ready'),
      scheduled: number('delayed'),
      running: number('reserved'),
      dead: number('buried'),
    }
  }
}
