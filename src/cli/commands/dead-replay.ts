import type { Command } from 'commander'
import type { JobStore } from '../../backends/store.ts'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { UsageError } from '../failure.ts'
import type { Output } from '../output/output.ts'
import { plural } from '../output/text.ts'
import { withStore } from '../session.ts'
import { queue } from '../values.ts'
import { retryJobs } from './retry.ts'

interface ReplayOptions {
  readonly all?: boolean
  readonly job?: string
  readonly queue?: string
}

const pageSize = 500

export function addReplay(dead: Command): void {
  dead
    .command('replay')
    .summary('put dead jobs back into the queue')
    .argument('[id...]', 'the ids of the jobs')
    .option('--all', 'all dead jobs, or all of --job and --queue')
    .option('--job <job>', 'with --all: only with this key')
    .option('--queue <queue>', 'with --all: only of this queue', queue)
    .addHelpText(
      'after',
      examples(['dead replay 0190d1a2-…', ''], ['dead replay --all', ''], ['dead replay --all --job send-email', '']),
    )
    .action((ids: readonly string[], options: ReplayOptions, command: Command) => {
      if (ids.length > 0 === Boolean(options.all)) throw new UsageError('give either the ids of jobs or --all')
      if (!options.all && (options.job || options.queue)) throw new UsageError('--job and --queue go with --all')
      return ids.length > 0
        ? retryJobs(command, ids, 'dead')
        : withStore(command, ({ store, out }) => replayAll(store, out, options))
    })
}

async function replayAll(store: JobStore, out: Output, { job, queue }: ReplayOptions): Promise<number> {
  const filter = { state: 'dead', limit: pageSize, ...(job && { job }), ...(queue && { queue }) } as const
  let replayed = 0
  let left = 0
  let page = await store.list(filter)
  while (page.length > 0) {
    const outcomes = await store.retry(page.map(({ id }) => id))
    replayed += outcomes.filter((outcome) => outcome === 'requeued').length
    left += outcomes.filter((outcome) => outcome === 'conflict').length
    out.progress(`replayed ${replayed}`)
    // The page goes on from the last job seen: one that died again meanwhile is newer and is not replayed a second time.
    page = await store.list({ ...filter, before: page.at(-1)?.id as string })
  }
  const rest = left === 0 ? '' : `; left ${left} whose unique key is taken by another job`
  out.answer({ replayed, conflicts: left }, () => `replayed ${plural(replayed, 'dead job')}${rest}`)
  return left === 0 ? exitCodes.ok : exitCodes.failed
}
