import type { Command } from 'commander'
import { parseDuration } from '../../../core/time/duration.ts'
import { examples } from '../../examples.ts'
import { UsageError } from '../../failure.ts'
import { type BulkOptions, bulkOptions, runBulkAction } from '../../jobs/bulk-action.ts'
import { duration, instant } from '../../values.ts'
import { moving } from './promote.ts'

interface RescheduleOptions extends BulkOptions {
  readonly at?: Date
  readonly in?: string
}

export function addReschedule(program: Command): void {
  bulkOptions(program.command('reschedule'))
    .summary('move waiting jobs to another time')
    .description('Moves waiting jobs to another time. Jobs that are running, blocked by other jobs or finished are left alone.')
    .option('--at <time>', 'such as 2026-06-10T09:00:00Z', instant)
    .option('--in <duration>', 'from now, such as 10m', duration)
    .addHelpText(
      'after',
      examples(
        ['reschedule 0190d1a2-… --in 10m', ''],
        ['reschedule 0190d1a2-… --at 2026-06-10T09:00:00Z', ''],
        ['reschedule --all --queue mail --in 1h', 'asks for confirmation'],
      ),
    )
    .action((ids: readonly string[], options: RescheduleOptions, command: Command) => {
      const { at, in: delay } = options
      if ((at === undefined) === (delay === undefined)) throw new UsageError('give either --at or --in')
      const timeOf = (now: number) => at?.getTime() ?? now + parseDuration(delay as string, 'in')
      return runBulkAction(command, ids, options, moving({ verb: 'Reschedule', past: 'rescheduled' }, timeOf))
    })
}
