import { workerConfig } from '../../worker/config.ts'
import type { WorkOptions } from '../../worker/options.ts'
import { exitCodes } from '../exit-codes.ts'
import type { ProjectSession } from '../session.ts'
import { log, openedForWork, refuseUnworkable } from '../working/working.ts'
import type { Supervised } from './supervised.ts'

export interface SupervisedWorking {
  readonly given: WorkOptions
  readonly quiet: boolean
  readonly supervised: Supervised
  readonly tellsUsage: boolean
}

/** Works as one of several processes. Their supervisor prints what they have in common. */
export async function workSupervised({ project, jobs, out }: ProjectSession, working: SupervisedWorking): Promise<number> {
  const { supervised } = working
  const options = { ...project.worker, ...working.given }
  workerConfig(options, 'work')
  refuseUnworkable(jobs, options)
  log(jobs, out, working.quiet)
  await supervised.whileOpening(openedForWork(jobs))
  supervised.attend(jobs, working.tellsUsage)
  const scheduler = supervised.followsSchedules ? {} : { scheduler: false as const }
  const report = await jobs.work({ ...options, ...scheduler, signals: false, signal: supervised.signal })
  await supervised.report(report)
  return supervised.isAborted ? exitCodes.interrupted : exitCodes.ok
}
