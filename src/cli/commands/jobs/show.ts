import type { Command } from 'commander'
import { readWholeLog } from '../../../app/handles/job-log.ts'
import { treeCounts } from '../../../queue/contract/queue-counts.ts'
import { examples } from '../../examples.ts'
import { findJob } from '../../jobs/job-ids.ts'
import { jobDetails } from '../../output/jobs/job-details.ts'
import { jobJson } from '../../output/jobs/jobs.ts'
import { lineJson } from '../../output/jobs/log-lines.ts'
import { lookIntoStore } from '../../session.ts'

export function addShow(program: Command): void {
  program
    .command('show')
    .summary('show a job in full')
    .argument('<id>', 'the job id, or a unique prefix')
    .description(
      'Shows its payload, result, progress, times, dependencies, all errors with their stack traces, and the last log lines.',
    )
    .addHelpText('after', examples(['show 0190d1a2-…', ''], ['show 0190d1a2-… --json', 'as JSON']))
    .action((id: string, _: unknown, command: Command) => printJob(command, id))
}

export async function printJob(command: Command, id: string): Promise<void> {
  await lookIntoStore(command, async ({ store, out, now }) => {
    const job = await findJob(store, id)
    const links = await store.links(job.id)
    const tree = job.root === null ? null : await treeCounts(store, job.root)
    const log = await readWholeLog(store.logs, job.id, null)
    const logs = { lines: log.lines.map(lineJson), dropped: log.dropped }
    out.answer({ ...jobJson(job), links, tree, logs }, () => jobDetails({ job, links, tree, log }, out, now))
  })
}
