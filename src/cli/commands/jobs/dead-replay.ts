import type { Command } from 'commander'
import { examples } from '../../examples.ts'
import { type BulkOptions, runBulkAction } from '../../jobs/bulk-action.ts'
import { queue } from '../../values.ts'
import { retrying } from './retry.ts'

export function addReplay(dead: Command): void {
  dead
    .command('replay')
    .summary('put dead (failed) jobs back into the queue')
    .argument('[id...]', 'job ids; a unique prefix is enough')
    .option('--all', 'all dead jobs, or those that --job and --queue select')
    .option('--job <job>', 'with --all: only jobs with this name')
    .option('--queue <queue>', 'with --all: only jobs in this queue', queue)
    .option('--dry-run', 'with --all: print how many jobs match, without changing anything')
    .option('--yes', 'accepted as in the other commands; a replay never asks for confirmation')
    .addHelpText(
      'after',
      examples(['dead replay 0190d1a2-…', ''], ['dead replay --all', ''], ['dead replay --all --job send-email', '']),
    )
    .action((ids: readonly string[], options: BulkOptions, command: Command) =>
      // A replay loses nothing, so do not ask for confirmation.
      runBulkAction(command, ids, options.all ? { ...options, yes: true } : options, retrying('dead')),
    )
}
