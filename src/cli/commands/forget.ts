import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { UsageError } from '../failure.ts'
import { visibleLine } from '../output/text.ts'
import { refuseMissing } from '../project.ts'
import { canAsk, confirm } from '../prompt.ts'
import { readSchedules, refuseUnknownSchedule } from '../schedules.ts'
import { withJobs } from '../session.ts'

export function addForget(program: Command): void {
  program
    .command('forget')
    .summary('remove a schedule that the code no longer has')
    .description(
      'Removes a schedule that the code no longer has, with the record of its runs, and withdraws the run that waits for its time. "treadle list --schedules" shows which ones there are.',
    )
    .argument('<name>', 'the name of the schedule')
    .option('--yes', 'do not ask; needed where there is no terminal')
    .addHelpText('after', examples(['forget old-digest', 'asks first'], ['forget old-digest --yes', 'in a script']))
    .action((name: string, { yes = false }: { readonly yes?: boolean }, command: Command) =>
      withJobs(command, async ({ project, jobs, out, now }) => {
        refuseMissing(project.missingFile)
        const schedules = await readSchedules(jobs, now, true)
        const names = schedules.map(({ schedule }) => schedule)
        refuseUnknownSchedule(name, names)
        const isInCode = schedules.some(({ schedule, state }) => schedule === name && state !== 'not in code')
        // One that is still in the code is refused in any case, so there is nothing to ask.
        if (!yes && !isInCode && !(await isMeant(name))) {
          out.note('nothing was removed')
          return exitCodes.failed
        }
        await jobs.schedules.forget(name)
        out.answer({ forgotten: name }, () => `forgot the schedule ${visibleLine(name)}`)
        return exitCodes.ok
      }),
    )
}

async function isMeant(name: string): Promise<boolean> {
  if (!canAsk()) throw new UsageError('this removes a schedule for ever: add --yes where nobody can be asked')
  return confirm(`Remove the schedule "${visibleLine(name)}" with the record of its runs?`)
}
