import { type Command, Option } from 'commander'
import { findJobs } from '../../../server/jobs/job-search.ts'
import { examples } from '../../examples.ts'
import { findJob } from '../../jobs/job-ids.ts'
import { type ChosenJobs, examinedNote, isSearch, searchOf, whereHelp } from '../../jobs/search.ts'
import { jobJson, jobTable } from '../../output/jobs/jobs.ts'
import { scheduleNotes, scheduleTable } from '../../output/schedules/schedules.ts'
import { readSchedules } from '../../schedules/schedules.ts'
import { loadSoundJobs, lookIntoStore } from '../../session.ts'
import { key, queue, state, tag, wholeNumber } from '../../values.ts'

export interface ListOptions extends ChosenJobs {
  readonly before?: string
  readonly limit: number
}

export function addList(program: Command): void {
  listOptions(program.command('list'))
    .summary('list jobs, newest first, or schedules')
    .description('Lists jobs, newest first; or, with --schedules, the status of the schedules.')
    .option('--state <state>', 'ready, scheduled, blocked, running, succeeded, dead, cancelled or skipped', state)
    .addOption(
      new Option('--schedules', 'list schedules instead of jobs').conflicts([
        'state',
        'queue',
        'job',
        'group',
        'tag',
        'where',
        'limit',
        'before',
      ]),
    )
    .addHelpText(
      'after',
      examples(
        ['list', 'the newest 20 jobs'],
        ['list --state running', 'running jobs, and their workers'],
        ['list --job send-email --limit 100', ''],
        ['list --tag urgent --state ready', ''],
        [`list --state dead --where 'error:"refused" since:24h'`, 'searches the newest 10,000 failed jobs'],
        ['list --before 0190d1a2-…', 'the next page'],
        ['list --schedules', 'state, last run and next run of each schedule'],
      ),
    )
    .action((options: ListOptions & { readonly schedules?: boolean }, command: Command) =>
      options.schedules ? printSchedules(command) : printJobs(command, options),
    )
}

/** The options shared by all lists of jobs. */
export function listOptions(command: Command): Command {
  return command
    .option('--queue <queue>', 'only jobs in this queue', queue)
    .option('--job <job>', "only jobs with this name, or that match a pattern such as 'mail-*'")
    .option('--group <group>', 'only jobs of this group', key)
    .option('--tag <tag>', 'only jobs with this tag', tag)
    .option('--where <filter>', whereHelp)
    .option('--limit <n>', 'maximum number of jobs', wholeNumber(1, 10_000), 20)
    .option('--before <id>', 'only jobs older than the job with this id')
}

export async function printJobs(command: Command, options: ListOptions): Promise<void> {
  await lookIntoStore(command, async ({ store, out, now }) => {
    const { before, limit } = options
    const search = searchOf(options, now)
    if (before) await findJob(store, before)
    const { jobs, examined, isComplete } = await findJobs(store, search, limit, before)
    const isCut = isSearch(options) && !isComplete && jobs.length < limit
    out.answer(jobs.map(jobJson), () => (jobs.length === 0 ? 'no jobs' : jobTable(jobs, out, now)))
    if (isCut) out.note(examinedNote(examined))
    else if (!out.json && jobs.length === limit) out.note(`older ones: --before ${jobs.at(-1)?.id}`)
  })
}

export interface ScheduleListing {
  /** Only schedules whose keys or names begin with this. */
  readonly prefix?: string
  readonly stored?: boolean
}

export async function printSchedules(command: Command, { prefix = '', stored = false }: ScheduleListing = {}): Promise<void> {
  await lookIntoStore(command, async (session) => {
    const { jobs, out, now } = session
    const complete = await loadSoundJobs(session)
    const all = await readSchedules(jobs, now, complete)
    const schedules = all.filter(({ schedule, key }) => (key ?? schedule).startsWith(prefix) && (key !== null || !stored))
    out.answer(schedules, () => (schedules.length === 0 ? 'no schedules' : scheduleTable(schedules, out, now)))
    if (!out.json) for (const note of scheduleNotes(schedules, now)) out.note(note)
  })
}
