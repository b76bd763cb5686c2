import type { Command } from 'commander'
import { examples } from '../../examples.ts'
import { exitCodes } from '../../exit-codes.ts'
import { UsageError } from '../../failure.ts'
import { visibleLine } from '../../output/text.ts'
import { canAsk, confirm } from '../../prompt.ts'
import { refuseUnknownSchedule } from '../../schedules/schedules.ts'
import { withStore } from '../../session.ts'

export function addDeleteSchedule(schedules: Command): void {
  schedules
    .command('delete')
    .summary('delete a stored schedule')
    .description('Deletes a stored schedule and its history, and withdraws its next run.')
    .argument('<key>', 'the key of the schedule')
    .option('--yes', 'skip the confirmation; required without a terminal')
    .addHelpText(
      'after',
      examples(['schedules delete acme/digest', 'asks for confirmation'], ['schedules delete acme/digest --yes', '']),
    )
    .action((key: string, { yes = false }: { readonly yes?: boolean }, command: Command) =>
      withStore(command, async ({ jobs, out }) => {
        const found = await jobs.schedules.get(key)
        if (found === null) {
          const stored = await jobs.schedules.list({ stored: true })
          refuseUnknownSchedule(
            key,
            stored.flatMap(({ name, stored }) => ({ schedule: name, key: stored?.key ?? null })),
          )
        }
        if (!yes && !canAsk()) throw new UsageError('this deletes a schedule permanently: add --yes to skip the confirmation')
        if (!yes && !(await confirm(`Delete the schedule "${visibleLine(key)}" and its history?`))) {
          out.note('nothing was deleted')
          return exitCodes.failed
        }
        await jobs.schedules.delete(key)
        out.answer({ deleted: key }, () => `deleted the schedule ${visibleLine(key)}`)
        return exitCodes.ok
      }),
    )
}
