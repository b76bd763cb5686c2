import type { Command } from 'commander'
import { type TreeCounts, treeCounts } from '../../../queue/contract/queue-counts.ts'
import type { JobRecord, JobStore } from '../../../queue/contract/store.ts'
import { examples } from '../../examples.ts'
import { findJob } from '../../jobs/job-ids.ts'
import { jobJson } from '../../output/jobs/jobs.ts'
import { drawTree, progressLine } from '../../output/jobs/tree.ts'
import { lookIntoStore } from '../../session.ts'
import { wholeNumber } from '../../values.ts'

const defaultLimit = 200

export function addTree(program: Command): void {
  program
    .command('tree')
    .summary('draw the workflow that a job is part of')
    .description('Draws the jobs of a workflow: children below their parents, and the dependencies between the others.')
    .argument('<id>', 'the id of a job or of a workflow')
    .option('--limit <n>', 'maximum number of jobs, newest first', wholeNumber(1, 10_000), defaultLimit)
    .addHelpText('after', examples(['tree 0190d1a2-…', ''], ['tree 0190d1a2-… --json', 'failed jobs, as JSON']))
    .action((id: string, { limit }: { readonly limit: number }, command: Command) =>
      lookIntoStore(command, async ({ store, out }) => {
        const root = await rootOf(store, id)
        const jobs = await membersOf(store, root, id, limit)
        const progress = await progressOf(store, root, jobs)
        const members = await Promise.all(jobs.map(async (job) => ({ job, links: await store.links(job.id) })))
        const json = { root, ...progress, jobs: members.map(({ job, links }) => ({ ...jobJson(job), links })) }
        out.answer(json, () => `${drawTree(members, out)}\n${progressLine(progress)}`)
        if (!out.json && jobs.length === limit) out.note(`only the newest ${limit} are shown: --limit shows more`)
      }),
    )
}

/** Only the jobs of a workflow are stored: its own id is not the id of a job. */
async function rootOf(store: JobStore, id: string): Promise<string> {
  if ((await treeCounts(store, id)).total > 0) return id
  return (await findJob(store, id)).root ?? id
}

async function membersOf(store: JobStore, root: string, id: string, limit: number): Promise<readonly JobRecord[]> {
  const members = await store.list({ root, limit })
  return members.length > 0 ? members : [await findJob(store, id)]
}

/** A job that is not part of a workflow is a tree of its own. */
async function progressOf(store: JobStore, root: string, jobs: readonly JobRecord[]): Promise<TreeCounts> {
  const progress = await treeCounts(store, root)
  const [job] = jobs
  return progress.total === 0 && job !== undefined ? { total: 1, counts: { ...progress.counts, [job.state]: 1 } } : progress
}
