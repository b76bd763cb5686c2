import type { Command } from 'commander'
import type { JobStore, RemoveFilter } from '../../backends/store.ts'
import { parseDuration } from '../../core/duration.ts'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { UsageError } from '../failure.ts'
import type { Output } from '../output/output.ts'
import { plural } from '../output/text.ts'
import { canAsk, confirm } from '../prompt.ts'
import { withStore } from '../session.ts'
import { duration, queue } from '../values.ts'

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
    .summary('delete dead jobs for ever')
    .option('--older-than <duration>', 'only those that died longer ago than this', duration)
    .option('--job <job>', 'only with this key')
    .option('--queue <queue>', 'only of this queue', queue)
    .option('--yes', 'do not ask; needed where there is no terminal')
    .addHelpText(
      'after',
      examples(['dead purge --older-than 30d', 'asks first'], ['dead purge --job send-email --yes', 'in a script']),
    )
    .action((options: PurgeOptions, command: Command) => {
      if (!options.yes && !canAsk()) throw new UsageError('this deletes jobs for ever: add --yes where nobody can be asked')
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
    job && `with the key "${job}"`,
    queue && `of queue "${queue}"`,
    olderThan && `that died more than ${olderThan} ago`,
  ].filter((part) => part)
  return `Delete all dead jobs${which.length === 0 ? '' : ` ${which.join(' ')}`} for ever?`
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

/** In batches, so that workers get their turn in between. */
async function purge(store: JobStore, out: Output, filter: RemoveFilter): Promise<number> {
  let deleted = 0
  for (let count = batch; count === batch; ) {
    count = await store.remove(filter)
    deleted += count
    out.progress(`deleted ${deleted}`)
  }
  return deleted
}
