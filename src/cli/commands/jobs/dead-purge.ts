import type { Command } from 'commander'
import { parseDuration } from '../../../core/time/duration.ts'
import type { JobStore, RemoveFilter } from '../../../queue/contract/store.ts'
import { examples } from '../../examples.ts'
import { exitCodes } from '../../exit-codes.ts'
import { UsageError } from '../../failure.ts'
import type { Output } from '../../output/output.ts'
import { plural } from '../../output/text.ts'
import { canAsk, confirm } from '../../prompt.ts'
import { withStore } from '../../session.ts'
import { duration, queue } from '../../values.ts'

interface PurgeOptions {
  readonly olderThan?: string
  readonly job?: string
  readonly queue?: string
  readonly yes?: boolean
}

const batch = 1_000

export function addPurge(dead: Command): void {
  dead
    .command('purge')
    .summary('permanently delete dead (failed) jobs')
    .option('--older-than <duration>', 'only jobs that failed longer ago than this', duration)
    .option('--job <job>', 'only jobs with this name')
    .option('--queue <queue>', 'only jobs in this queue', queue)
    .option('--yes', 'skip the confirmation; required without a terminal')
    .addHelpText(
      'after',
      examples(['dead purge --older-than 30d', 'asks for confirmation'], ['dead purge --job send-email --yes', 'in a script']),
    )
    .action((options: PurgeOptions, command: Command) => {
      if (!options.yes && !canAsk()) throw new UsageError('this deletes jobs permanently: add --yes to skip the confirmation')
      return withStore(command, async ({ store, out, now }) => {
        if (!options.yes && !(await confirm(question(options)))) {
          out.note('nothing was deleted')
          return exitCodes.failed
        }
        const deleted = await purge(store, out, filterOf(options, now))
        out.answer({ deleted }, () => `deleted ${plural(deleted, 'dead job')}`)
        return exitCodes.ok
      })
    })
}

function question({ olderThan, job, queue }: PurgeOptions): string {
  const which = [
    job && `named "${job}"`,
    queue && `of queue "${queue}"`,
    olderThan && `that failed more than ${olderThan} ago`,
  ].filter((part) => part)
  return `Delete all dead jobs${which.length === 0 ? '' : ` ${which.join(' ')}`} permanently?`
}

function filterOf({ olderThan, job, queue }: PurgeOptions, now: number): RemoveFilter {
  return {
    state: 'dead',
    limit: batch,
    ...(olderThan && { finishedBefore: now - parseDuration(olderThan, 'older-than') }),
    ...(job && { job }),
    ...(queue && { queue }),
  }
}

/** Deletes in batches, so that workers get their turn in between. */
async function purge(store: JobStore, out: Output, filter: RemoveFilter): Promise<number> {
  let deleted = 0
  for (let count = batch; count === batch; ) {
    count = await store.remove(filter)
    deleted += count
    out.progress(`deleted ${deleted}`)
  }
  return deleted
}
