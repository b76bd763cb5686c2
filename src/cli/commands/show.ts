import type { Command } from 'commander'
import type { JobRecord, JobStore } from '../../backends/store.ts'
import { TreadleError } from '../../core/errors.ts'
import { examples } from '../examples.ts'
import { jobDetails } from '../output/job-details.ts'
import { jobJson } from '../output/jobs.ts'
import { lookIntoStore } from '../session.ts'

export function addShow(program: Command): void {
  program
    .command('show')
    .summary('show everything about a job')
    .argument('<id>', 'the id of the job')
    .description('Shows payload, result, progress, times, what it waits for, and all errors with their stacks.')
    .addHelpText('after', examples(['show 0190d1a2-…', ''], ['show 0190d1a2-… --json', 'for programs']))
    .action((id: string, _: unknown, command: Command) => printJob(command, id))
}

export async function printJob(command: Command, id: string): Promise<void> {
  await lookIntoStore(command, async ({ store, out, now }) => {
    const job = await findJob(store, id)
    const links = await store.links(id)
    const tree = job.root === null ? null : await store.tree(job.root)
    out.answer({ ...jobJson(job), links, tree }, () => jobDetails({ job, links, tree }, out, now))
  })
}

export async function findJob(store: JobStore, id: string): Promise<JobRecord> {
  const job = await store.get(id)
  if (job !== null) return job
  throw new TreadleError(
    'RUN_NOT_FOUND',
    `There is no job with the id "${id}". It may have ended and been deleted; "treadle list" shows what there is.`,
  )
}
