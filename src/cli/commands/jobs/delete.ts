import type { Command } from 'commander'
import { finalStates, isFinal } from '../../../queue/contract/job-state.ts'
import type { JobStore } from '../../../queue/contract/store.ts'
import { examples } from '../../examples.ts'
import { type BulkAction, type BulkOptions, bulkOptions, runBulkAction } from '../../jobs/bulk-action.ts'

type Deletion = 'deleted' | 'active' | 'missing'

const deleting: BulkAction<Deletion> = {
  verb: 'Delete',
  past: 'deleted',
  states: finalStates,
  wording: {
    deleted: 'deleted',
    active: 'left alone: it has not finished; cancel it first',
    missing: 'no such job',
  },
  done: ['deleted'],
  act: (ids, { store }) => Promise.all(ids.map((id) => deleteOne(store, id))),
}

export function addDelete(program: Command): void {
  bulkOptions(program.command('delete'))
    .summary('permanently delete finished jobs')
    .description('Deletes finished jobs together with their results and errors. Waiting and running jobs are never deleted.')
    .addHelpText(
      'after',
      examples(
        ['delete 0190d1a2-…', ''],
        ['delete --all --job send-email --state dead', 'asks for confirmation'],
        ['prune --older-than 30d', 'by age'],
      ),
    )
    .action((ids: readonly string[], options: BulkOptions, command: Command) => runBulkAction(command, ids, options, deleting))
}

async function deleteOne(store: JobStore, id: string): Promise<Deletion> {
  const state = (await store.get(id))?.state
  if (state === undefined) return 'missing'
  if (!isFinal(state)) return 'active'
  return (await store.remove({ state, ids: [id], limit: 1 })) === 1 ? 'deleted' : 'active'
}
