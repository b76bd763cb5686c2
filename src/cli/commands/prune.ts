import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { plural } from '../output/text.ts'
import { withStore } from '../session.ts'
import { duration } from '../values.ts'

export function addPrune(program: Command): void {
  program
    .command('prune')
    .summary('delete finished jobs whose retention period has passed')
    .description(
      'Workers do this regularly; prune does it now. It deletes finished jobs that are older than the retention period ("keep" in the config), or than --older-than. Waiting and running jobs are never deleted, however old they are.',
    )
    .option('--older-than <duration>', 'jobs that finished longer ago than this, instead of "keep"', duration)
    .option('--dry-run', 'only say how many; reads all finished jobs')
    .addHelpText(
      'after',
      examples(
        ['prune', ''],
        ['prune --older-than 7d', ''],
        ['prune --older-than 7d --dry-run', 'deletes nothing'],
        ['prune --json', 'prints {"deleted":123}'],
      ),
    )
    .action(({ olderThan, dryRun = false }: { readonly olderThan?: string; readonly dryRun?: boolean }, command: Command) =>
      withStore(command, async ({ jobs, out }) => {
        const count = await jobs.prune({ ...(olderThan && { olderThan }), dryRun })
        if (dryRun) out.answer({ matching: count }, () => `${plural(count, 'ended job')} would be deleted`)
        else out.answer({ deleted: count }, () => `deleted ${plural(count, 'ended job')}`)
      }),
    )
}
