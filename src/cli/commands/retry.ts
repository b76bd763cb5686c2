import type { Command } from 'commander'
import type { JobState } from '../../backends/job-state.ts'
import type { JobStore } from '../../backends/store.ts'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { withStore } from '../session.ts'

const wording = {
  requeued: 'back in the queue',
  active: 'left alone: it has not ended yet',
  conflict: 'left alone: another job with its unique key waits or runs',
  other: 'left alone: it is not dead',
  missing: 'there is no such job',
} as const

export function addRetry(program: Command): void {
  program
    .command('retry')
    .summary('put ended jobs back into the queue')
    .description('Puts ended jobs back into the queue, with all their attempts. The history of their errors stays.')
    .argument('<id...>', 'the ids of the jobs')
    .addHelpText(
      'after',
      examples(
        ['retry 0190d1a2-…', 'one job'],
        ['retry 0190d1a2-… 0190d1a3-…', 'several'],
        ['dead replay --all', 'all dead ones'],
      ),
    )
    .action((ids: readonly string[], _: unknown, command: Command) => retryJobs(command, ids))
}

/** Only those in the given state, where one is given. */
export async function retryJobs(command: Command, ids: readonly string[], only?: JobState): Promise<void> {
  await withStore(command, async ({ store, out }) => {
    const results = await Promise.all(ids.map(async (id) => ({ id, outcome: await retryOne(store, id, only) })))
    const outcomes = results.map(({ outcome }) => outcome)
    out.answer(results, () => results.map(({ id, outcome }) => `${id}  ${wording[outcome]}`).join('\n'))
    if (outcomes.includes('missing')) return exitCodes.notFound
    return outcomes.every((outcome) => outcome === 'requeued') ? exitCodes.ok : exitCodes.failed
  })
}

async function retryOne(store: JobStore, id: string, only: JobState | undefined): Promise<keyof typeof wording> {
  const state = only === undefined ? undefined : (await store.get(id))?.state
  if (state !== only) return state === undefined ? 'missing' : 'other'
  const [outcome = 'missing'] = await store.retry([id])
  return outcome
}
