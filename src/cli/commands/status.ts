import type { Command } from 'commander'
import { systemClock } from '../../core/time/clock.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { examples } from '../examples.ts'
import { UsageError } from '../failure.ts'
import { othersJson, otherText, statusJson, statusText } from '../output/status.ts'
import { refuseMissing } from '../project.ts'
import { type GlobalOptions, loadSoundJobs, lookOnly, type ProjectSession, withProject } from '../session.ts'
import { otherStatuses, statusOf } from '../status.ts'
import { duration } from '../values.ts'
import { watching } from '../watching.ts'

interface StatusOptions {
  readonly watch?: boolean
  readonly interval: string
}

const shortestMs = 100

export function addStatus(program: Command): void {
  program
    .command('status')
    .summary('show counts by queue: waiting, running, failed')
    .description('Shows counts by queue and state, jobs that no program here can run, the status of schedules, and live workers.')
    .option('--watch', 'keep refreshing until Ctrl-C')
    .option('--interval <duration>', 'how often, with --watch', duration, '2s')
    .addHelpText(
      'after',
      examples(
        ['status', ''],
        ['status --watch', ''],
        ['status --json', 'for monitoring'],
        ['status --watch --json', 'one JSON object per line'],
      ),
    )
    .action(({ watch = false, interval }: StatusOptions, command: Command) => {
      const intervalMs = parseDuration(interval, 'interval')
      if (intervalMs < shortestMs) throw new UsageError(`--interval must be at least ${shortestMs}ms`)
      const run = async (session: ProjectSession) => {
        refuseMissing(session.project.missingFile)
        const complete = await loadSoundJobs(session)
        const { backend } = command.optsWithGlobals<GlobalOptions>()
        if (!watch) return printStatus(session, session.now, complete, backend)
        await watching(session.out, intervalMs, () => printStatus(session, systemClock.now(), complete, backend))
      }
      return withProject(command, run, lookOnly)
    })
}

async function printStatus(session: ProjectSession, now: number, complete: boolean, backend?: string): Promise<void> {
  const { project, out } = session
  const status = await statusOf(project, now, complete)
  const others = backend === undefined ? await otherStatuses({ ...session, now }, complete) : []
  out.answer({ ...statusJson(status), ...(others.length > 0 && { backends: othersJson(others) }) }, () =>
    [statusText(status, out, now), ...others.map((each) => otherText(each, out, now))].join('\n\n'),
  )
}
