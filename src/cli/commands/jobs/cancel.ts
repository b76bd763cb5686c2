import type { Command } from 'commander'
import { cancelJob, cancelTree } from '../../../execution/end/cancelling.ts'
import type { CancelOutcome } from '../../../queue/contract/queue-counts.ts'
import type { Cancellation } from '../../../queue/contract/store.ts'
import { examples } from '../../examples.ts'
import { exitCodes } from '../../exit-codes.ts'
import { UsageError } from '../../failure.ts'
import { type BulkAction, type BulkOptions, bulkOptions, runBulkAction } from '../../jobs/bulk-action.ts'
import { wholeId } from '../../jobs/job-ids.ts'
import { visibleLine } from '../../output/text.ts'
import { type StoreSession, withStore } from '../../session.ts'

const cancelling: BulkAction<CancelOutcome> = {
  verb: 'Cancel',
  past: 'cancelled',
  states: ['ready', 'scheduled', 'blocked', 'running'],
  wording: {
    cancelled: 'cancelled',
    requested: 'running: its worker was asked to stop it',
    ended: 'left alone: it has already finished',
    missing: 'no such job',
  },
  done: ['cancelled', 'requested'],
  act: async (ids, { jobs, store }) => {
    const deps = { ...(await jobs.served({ looksOnly: true })), store }
    return Promise.all(ids.map((id) => cancelJob(id, deps)))
  },
}

export function addCancel(program: Command): void {
  bulkOptions(program.command('cancel'))
    .summary('cancel waiting or running jobs')
    .description('Ends waiting jobs at once. The handler of a running job is asked to stop through its abort signal.')
    .option('--tree', 'also cancel their children and every job that waits for them; the id of a workflow is accepted too')
    .addHelpText(
      'after',
      examples(
        ['cancel 0190d1a2-…', ''],
        ['cancel 0190d1a2-… --tree', 'a workflow, or a job with its children'],
        ['cancel --all --job send-email --dry-run', 'count them first'],
        ['cancel --all --job send-email --state scheduled', 'asks for confirmation'],
      ),
    )
    .action((ids: readonly string[], options: BulkOptions & { readonly tree?: boolean }, command: Command) => {
      if (!options.tree) return runBulkAction(command, ids, options, cancelling)
      if (ids.length === 0) throw new UsageError('--tree needs the ids of jobs or workflows')
      return withStore(command, (session) => cancelTrees(ids, session))
    })
}

async function cancelTrees(given: readonly string[], { jobs, store, out }: StoreSession): Promise<number> {
  const deps = { ...(await jobs.served({ looksOnly: true })), store }
  const results: ({ readonly id: string } & Cancellation)[] = []
  for (const text of given) {
    const id = await wholeId(store, text)
    results.push({ id, ...(await cancelTree(id, deps)) })
  }
  out.answer(results, () => results.map(treeLine).join('\n'))
  if (results.some(({ cancelled, requested, ended }) => cancelled + requested + ended === 0)) return exitCodes.notFound
  return results.some(({ cancelled, requested }) => cancelled + requested === 0) ? exitCodes.failed : exitCodes.ok
}

function treeLine({ id, cancelled, requested, ended }: { readonly id: string } & Cancellation): string {
  if (cancelled + requested + ended === 0) return `${visibleLine(id)}  ${cancelling.wording.missing}`
  return `${visibleLine(id)}  ${cancelled} cancelled, ${requested} running and asked to stop, ${ended} already finished`
}
