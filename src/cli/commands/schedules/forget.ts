import type { Command } from 'commander'
import { examples } from '../../examples.ts'
import { exitCodes } from '../../exit-codes.ts'
import { UsageError } from '../../failure.ts'
import { visibleLine } from '../../output/text.ts'
import { refuseMissing } from '../../project.ts'
import { canAsk, confirm } from '../../prompt.ts'
import { readSchedules, refuseUnknownSchedule } from '../../schedules/schedules.ts'
import { withJobs } from '../../session.ts'

export function addForget(program: Command): void {
  program
    .command('forget')
    .summary('remove a schedule that is no longer in the code')
    .description(
      'Removes a schedule that is no longer in the code, together with its history, and withdraws its next run. "treadle list --schedules" shows such schedules.',
    )
    .argument('<name>', 'the name of the schedule')
    .option('--yes', 'skip the confirmation; required without a terminal')
    .addHelpText('after', examples(['forget old-digest', 'asks for confirmation'], ['forget old-digest --yes', 'in a script']))
    .action((name: string, { yes = false }: { readonly yes?: boolean }, command: Command) =>
      withJobs(command, async ({ project, jobs, out, now }) => {
        refuseMissing(project.missingFile)
        const schedules = await readSchedules(jobs, now, true)
        const stored = schedules.find(({ schedule, key }) => key !== null && (key === name || schedule === name))
        if (stored !== undefined)
          throw new UsageError(
            `the schedule "${visibleLine(name)}" is stored in the queue: use "treadle schedules delete ${stored.key}"`,
          )
        refuseUnknownSchedule(
          name,
          schedules.filter(({ key }) => key === null),
        )
        const isInCode = schedules.some(({ schedule, state }) => schedule === name && state !== 'not in code')
        // A schedule that is still in the code is refused anyway, so do not ask.
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
  if (!canAsk()) throw new UsageError('this permanently removes a schedule: add --yes to skip the confirmation')
  return confirm(`Remove the schedule "${visibleLine(name)}" and its history?`)
}
