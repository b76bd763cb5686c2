import type { Command } from 'commander'
import type { AmendAnswer } from '../../../queue/contract/store.ts'
import { examples } from '../../examples.ts'
import { type BulkAction, type BulkOptions, bulkOptions, runBulkAction } from '../../jobs/bulk-action.ts'

export type Moved = Exclude<AmendAnswer, 'amended' | 'changed' | 'rejected'>

/** Moves waiting jobs to the time that `timeOf` returns at each call. */
export function moving(
  words: { readonly verb: string; readonly past: string },
  timeOf: (now: number) => number,
): BulkAction<Moved> {
  return {
    ...words,
    states: ['scheduled', 'ready'],
    wording: {
      moved: words.past,
      claimed: 'left alone: it is running, or blocked by other jobs',
      ended: 'left alone: it has already finished',
      missing: 'no such job',
    },
    done: ['moved'],
    act: async (ids, { store, now }) => {
      const runAt = timeOf(now)
      return (await store.amend(ids.map((id) => ({ id, runAt })))) as readonly Moved[]
    },
  }
}

const promoting: BulkAction<Moved> = { ...moving({ verb: 'Run', past: 'promoted' }, (now) => now), states: ['scheduled'] }

export function addPromote(program: Command): void {
  bulkOptions(program.command('promote'))
    .summary('make scheduled jobs ready now')
    .description('Makes jobs ready that are waiting for a delay or for their next retry.')
    .addHelpText(
      'after',
      examples(
        ['promote 0190d1a2-…', ''],
        ['promote --all --job send-email', 'asks for confirmation'],
        ['promote --all --dry-run', ''],
      ),
    )
    .action((ids: readonly string[], options: BulkOptions, command: Command) => runBulkAction(command, ids, options, promoting))
}
