import type { Command } from 'commander'
import { examples } from '../../examples.ts'
import { scheduleInCode } from '../../schedules/schedules.ts'
import { withJobs } from '../../session.ts'
import { sentText } from '../jobs/send.ts'

export function addTrigger(program: Command): void {
  program
    .command('trigger')
    .summary('run the job of a schedule now')
    .description(
      'Puts the job of a schedule into the queue now, even if the schedule is paused or disabled, and prints the id of the job. The schedule itself does not change.',
    )
    .argument('<name>', 'the name of the schedule')
    .addHelpText('after', examples(['trigger digest', ''], ['trigger digest --json', 'prints {"id":…,"job":…,"created":…}']))
    .action((name: string, _: unknown, command: Command) =>
      withJobs(command, async ({ jobs, out }) => {
        if (jobs.has(name) || (await jobs.schedules.get(name)) === null) scheduleInCode(jobs, name)
        const run = await jobs.schedules.runNow(name)
        out.answer({ id: run.id, job: run.job, created: run.created }, () => sentText(run))
      }),
    )
}
