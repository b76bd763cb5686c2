import { type Command, Option } from 'commander'
import type { JobState } from '../../backends/job-state.ts'
import type { JobFilter } from '../../backends/store.ts'
import { examples } from '../examples.ts'
import { jobJson, jobTable } from '../output/jobs.ts'
import { scheduleNotes, scheduleTable } from '../output/schedules.ts'
import { readSchedules } from '../schedules.ts'
import { loadSoundJobs, lookIntoStore } from '../session.ts'
import { key, queue, state, wholeNumber } from '../values.ts'
import { findJob } from './show.ts'

export interface ListOptions {
  readonly state?: JobState
  readonly queue?: string
  readonly job?: string
  readonly group?: string
  readonly before?: string
  readonly limit: number
}

export function addList(program: Command): void {
  listOptions(program.command('list'))
    .summary('list jobs, newest first, or schedules')
    .description('Lists jobs, the newest first; or, with --schedules, how the schedules stand.')
    .option('--state <state>', 'ready, scheduled, blocked, running, succeeded, dead, cancelled or skipped', state)
    .addOption(
      new Option('--schedules', 'schedules in place of jobs').conflicts(['state', 'queue', 'job', 'group', 'limit', 'before']),
    )
    .addHelpText(
      'after',
      examples(
        ['list', 'the newest 20 jobs'],
        ['list --state running', 'what runs now, and where'],
        ['list --job send-email --limit 100', ''],
        ['list --before 0190d1a2-…', 'the page after the job with this id'],
        ['list --schedules', 'how schedules stand: state, last run, next run'],
      ),
    )
    .action((options: ListOptions & { readonly schedules?: boolean }, command: Command) =>
      options.schedules ? printSchedules(command) : printJobs(command, options),
    )
}

/** The options that every list of jobs has. */
export function listOptions(command: Command): Command {
  return command
    .option('--queue <queue>', 'only of this queue', queue)
    .option('--job <job>', 'only with this key')
    .option('--group <group>', 'only of this group', key)
    .option('--limit <n>', 'at most so many', wholeNumber(1, 10_000), 20)
    .option('--before <id>', 'only older than the job with this id')
}

export async function printJobs(command: Command, options: ListOptions): Promise<void> {
  await lookIntoStore(command, async ({ store, out, now }) => {
    const { job, group, before, limit } = options
    const filter: JobFilter = {
      limit,
      ...(options.state && { state: options.state }),
      ...(options.queue && { queue: options.queue }),
      ...(job && { job }),
      ...(group && { group }),
      ...(before && { before }),
    }
    if (before) await findJob(store, before)
    const jobs = await store.list(filter)
    out.answer(jobs.map(jobJson), () => (jobs.length === 0 ? 'no jobs' : jobTable(jobs, out, now)))
    if (!out.json && jobs.length === limit) out.note(`older ones: --before ${jobs.at(-1)?.id}`)
  })
}

async function printSchedules(command: Command): Promise<void> {
  await lookIntoStore(command, async (session) => {
    const { jobs, out, now } = session
    const complete = await loadSoundJobs(session)
    const schedules = await readSchedules(jobs, now, complete)
    out.answer(schedules, () => (schedules.length === 0 ? 'no schedules' : scheduleTable(schedules, out, now)))
    if (!out.json) for (const note of scheduleNotes(schedules, now)) out.note(note)
  })
}
