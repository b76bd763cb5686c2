import type { Command } from 'commander'
import type { JobState } from '../../../queue/contract/job-state.ts'
import type { JobStore } from '../../../queue/contract/store.ts'
import { examples } from '../../examples.ts'
import { type BulkAction, type BulkOptions, bulkOptions, runBulkAction } from '../../jobs/bulk-action.ts'

type Retried = Awaited<ReturnType<JobStore['retry']>>[number] | 'other'

export function addRetry(program: Command): void {
  bulkOptions(program.command('retry'))
    .summary('put finished jobs back into the queue')
    .description(
      'Puts finished jobs back into the queue with a fresh set of attempts. Their error history is kept. --all selects dead (failed) jobs unless --state says otherwise.',
    )
    .addHelpText(
      'after',
      examples(
        ['retry 0190d1a2-…', 'one job'],
        ['retry 0190d1a2-… 0190d1a3-…', 'several'],
        ['retry --all --job send-email', 'all dead jobs with this name; asks for confirmation'],
        ['retry --all --state cancelled --queue mail --yes', ''],
      ),
    )
    .action((ids: readonly string[], options: BulkOptions, command: Command) =>
      runBulkAction(command, ids, { ...options, ...(options.all && stateOf(options)) }, retrying()),
    )
}

/** Dead jobs, unless other states are named. */
function stateOf({ state, where }: BulkOptions): Pick<BulkOptions, 'state'> {
  if (state !== undefined) return { state }
  return /(?:^|\s)-?state:/.test(where ?? '') ? {} : { state: 'dead' }
}

/** Retries only jobs in the given state, if one is given. */
export function retrying(only?: JobState): BulkAction<Retried> {
  return {
    verb: only === 'dead' ? 'Replay' : 'Retry',
    past: only === 'dead' ? 'replayed' : 'retried',
    states: only === undefined ? ['dead', 'cancelled', 'skipped', 'succeeded'] : [only],
    wording: {
      requeued: 'back in the queue',
      active: 'left alone: it has not finished',
      conflict: 'left alone: another unfinished job has its unique key',
      other: 'left alone: it is not dead',
      missing: 'no such job',
    },
    done: ['requeued'],
    act: (ids, { store }) => (only === undefined ? store.retry(ids) : retryOnly(store, ids, only)),
  }
}

async function retryOnly(store: JobStore, ids: readonly string[], only: JobState): Promise<readonly Retried[]> {
  const states = await Promise.all(ids.map(async (id) => (await store.get(id))?.state))
  const meant = ids.filter((_, place) => states[place] === only)
  const outcomes = meant.length === 0 ? [] : await store.retry(meant)
  const byId = new Map(meant.map((id, place) => [id, outcomes[place] as Retried]))
  return ids.map((id, place) => byId.get(id) ?? (states[place] === undefined ? 'missing' : 'other'))
}
