import { type JobRecord, type Run, type Treadle, type TreadleEvents, type TreadleOptions, treadle } from 'treadle'
import { onTestFinished } from 'vitest'
import { loggerInto, nextLook } from '../world.ts'

export interface IsolatingProgram {
  readonly jobs: Treadle
  /** What was logged, as `level message`. */
  readonly log: string[]
  /** The names of what happened, in order. */
  readonly names: string[]
  record(run: Pick<Run, 'id'>): Promise<JobRecord>
  /** Works, one pass after the other, until this job needs no more attempts. */
  finish(run: Pick<Run, 'id'>): Promise<JobRecord>
}

/** The built library on the system's clock: what a real thread does takes real time. */
export function isolatingProgram(options: TreadleOptions = {}): IsolatingProgram {
  const log: string[] = []
  const names: string[] = []
  const jobs = treadle('memory:', { logger: loggerInto(log), ...options })
  for (const name of eventNames) jobs.on(name, () => names.push(name))
  onTestFinished(() => jobs.close())
  const record = async ({ id }: Pick<Run, 'id'>) => (await (await jobs.store()).get(id)) as JobRecord
  const finish = async (run: Pick<Run, 'id'>) => {
    for (let looks = 0; (await record(run)).finishedAt === null; looks++) {
      await jobs.run()
      await nextLook(looks)
    }
    return record(run)
  }
  return { jobs, log, names, record, finish }
}

const eventNames: readonly (keyof TreadleEvents)[] = [
  'job:succeeded',
  'job:failed',
  'job:dead',
  'job:cancelled',
  'job:released',
  'job:abandoned',
  'job:overrun',
  'worker:error',
]
