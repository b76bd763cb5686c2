import { type Steps, wait } from '../../../core/answer.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlSession } from '../session.ts'

/**
 * How many jobs are running, by key, queue and group. They are counted from the index of running jobs, which is never larger than
 * what all workers together run at once. So there is no counter that could be wrong after a crash.
 */
export class Running {
  readonly ofJobs = new Map<string, number>()
  readonly inQueues = new Map<string, number>()
  readonly #byGroup = new Map<string, number>()

  static *read(session: SqlSession, lanes: Lanes): Steps<Running> {
    const { from, is } = session.dialect.inState(stateNumber.running)
    const rows = yield* wait(
      session.all<RunningRow>(`SELECT lane, grp, COUNT(*) AS jobs FROM ${from} WHERE ${is} GROUP BY lane, grp`),
    )
    yield* lanes.numbered(
      session,
      rows.map(({ lane }) => lane),
    )
    return new Running(rows, lanes)
  }

  private constructor(rows: readonly RunningRow[], lanes: Lanes) {
    for (const { lane, grp, jobs } of rows) {
      const { job, queue, grouped } = lanes.get(lane)
      add(this.ofJobs, job, jobs)
      add(this.inQueues, queue, jobs)
      if (grouped === 1) add(this.#byGroup, groupKey(job, grp), jobs)
    }
  }

  inGroup(job: string, group: string): number {
    return this.#byGroup.get(groupKey(job, group)) ?? 0
  }

  /** The groups of this key that have running jobs. */
  groupsOf(job: string): readonly string[] {
    return [...this.#byGroup.keys()].filter((key) => key.startsWith(`${job}\n`)).map((key) => key.slice(job.length + 1))
  }
}

interface RunningRow {
  readonly lane: number
  readonly grp: string
  readonly jobs: number
}

/** A group belongs to a key. Job names contain no line feed. */
function groupKey(job: string, group: string): string {
  return `${job}\n${group}`
}

function add(sums: Map<string, number>, key: string, jobs: number): void {
  sums.set(key, (sums.get(key) ?? 0) + jobs)
}
