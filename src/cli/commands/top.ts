import type { Command } from 'commander'
import { systemClock } from '../../core/time/clock.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { examples } from '../examples.ts'
import { UsageError } from '../failure.ts'
import { readSchedules } from '../schedules/schedules.ts'
import { loadSoundJobs, lookIntoStore } from '../session.ts'
import { Top, topOnce } from '../top/top.ts'
import { duration } from '../values.ts'
import { stopRequest } from '../working/signals.ts'

interface TopOptions {
  readonly interval: string
}

const shortestMs = 100

export function addTop(program: Command): void {
  program
    .command('top')
    .summary('a live view of queues, running jobs, workers and schedules')
    .description(
      'Shows queues with their rates, running jobs with their progress, failed jobs, workers and schedules, until q or Ctrl-C. Tab selects a panel and the arrows a row; Enter opens a job, p pauses or resumes a queue or a schedule, r puts a dead job back. If the output is not a terminal, it prints one frame and exits.',
    )
    .option('--interval <duration>', 'how often to refresh', duration, '1s')
    .addHelpText('after', examples(['top', ''], ['top --interval 5s', ''], ['top | cat', 'one frame, as plain text']))
    .action((options: TopOptions, command: Command) => {
      const intervalMs = parseDuration(options.interval, 'interval')
      if (intervalMs < shortestMs) throw new UsageError(`--interval must be at least ${shortestMs}ms`)
      return lookIntoStore(command, async (session) => {
        const { store, jobs, out, project } = session
        if (out.json) throw new UsageError('top is for people; for programs there are "status --json" and "health --json"')
        const complete = await loadSoundJobs(session)
        const schedules = (now: number) => readSchedules(jobs, now, complete)
        const deps = { url: project.url, store, schedules, clock: systemClock, out }
        if (!process.stdout.isTTY || !process.stdin.isTTY) {
          out.line(await topOnce(deps))
          return
        }
        const stop = stopRequest(
          () => {},
          () => {},
        )
        await new Top(deps, intervalMs).show(process.stdin, process.stdout, stop.signal)
      })
    })
}
