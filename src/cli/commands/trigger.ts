import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { scheduleInCode } from '../schedules.ts'
import { withJobs } from '../session.ts'
import { sentText } from './send.ts'

export function addTrigger(program: Command): void {
  program
    .command('trigger')
    .summary('run the job of a schedule now')
    .description(
      'Puts the job of a schedule into the queue now, also while the schedule is paused or disabled, and prints the id of the job. The schedule itself goes on as it was.',
    )
    .argument('<name>', 'the name of the schedule')
    .addHelpText('after', examples(['trigger digest', ''], ['trigger digest --json', 'prints {"id":…,"job":…,"created":…}']))
    .action((name: string, _: unknown, command: Command) =>
      withJobs(command, async ({ jobs, out }) => {
        scheduleInCode(jobs, name)
        const run = await jobs.schedules.trigger(name)
        out.answer({ id: run.id, job: run.job, created: run.created }, () => sentText(run))
      }),
    )
}
