import type { Command } from 'commander'
import { examples } from '../../examples.ts'
import { refuseMissing } from '../../project.ts'
import { readSchedules, refuseUnknownSchedule } from '../../schedules/schedules.ts'
import { loadSoundJobs, type ProjectSession, withProject } from '../../session.ts'
import { printSchedules } from '../jobs/list.ts'
import { sentText } from '../jobs/send.ts'
import { changeSchedules } from '../pause.ts'
import { addDeleteSchedule } from './delete-schedule.ts'
import { addSetSchedule } from './set-schedule.ts'
import { printSchedule } from './show-schedule.ts'

/** Schedules created at run time, in addition to those in the code. */
export function addSchedules(program: Command): void {
  const schedules = program
    .command('schedules')
    .summary('create, change and list schedules that are stored in the queue')
    .description(
      'Manages the schedules of the code and those that are stored in the queue. A stored schedule is created and changed at run time, identified by its key, and followed within a second by every scheduler that knows its job.',
    )
    .usage('<command> [options]')
    .addHelpText(
      'after',
      examples(
        ['schedules list', ''],
        [`schedules set acme/digest --job digest --cron '0 9 * * 1-5' --zone Europe/Paris --payload '{"tenant":"acme"}'`, ''],
        ['schedules pause acme/digest', ''],
        ['schedules delete acme/digest', ''],
      ),
    )
  schedules
    .command('list')
    .summary('list schedules: state, last run, next run')
    .option('--prefix <text>', 'only keys or names that begin with this')
    .option('--stored', 'only schedules that are stored in the queue')
    .addHelpText('after', examples(['schedules list', ''], ['schedules list --prefix acme/', 'of one tenant']))
    .action((options: { readonly prefix?: string; readonly stored?: boolean }, command: Command) =>
      printSchedules(command, options),
    )
  schedules
    .command('show')
    .summary('show a schedule in full, with its payload and latest runs')
    .argument('<key>', 'the key of a stored schedule, or the name of one of the code')
    .addHelpText('after', examples(['schedules show acme/digest', '']))
    .action((key: string, _: unknown, command: Command) => printSchedule(command, key))
  addSetSchedule(schedules)
  for (const verb of ['pause', 'resume'] as const) {
    schedules
      .command(verb)
      .summary(verb === 'pause' ? 'pause schedules until they are resumed' : 'resume paused schedules')
      .argument('<key...>', 'the keys of stored schedules, or the names of those of the code')
      .addHelpText('after', examples([`schedules ${verb} acme/digest`, '']))
      .action((keys: readonly string[], _: unknown, command: Command) => changeSchedules(command, keys, verb))
  }
  schedules
    .command('run')
    .summary('run the job of a schedule now')
    .argument('<key>', 'the key of a stored schedule, or the name of one of the code')
    .addHelpText('after', examples(['schedules run acme/digest', 'even while it is paused']))
    .action((key: string, _: unknown, command: Command) => withProject(command, (session) => runNow(session, key)))
  addDeleteSchedule(schedules)
}

async function runNow(session: ProjectSession, key: string): Promise<void> {
  const { project, jobs, out, now } = session
  refuseMissing(project.missingFile)
  const known = await readSchedules(jobs, now, await loadSoundJobs(session))
  refuseUnknownSchedule(key, known)
  const run = await jobs.schedules.runNow(key)
  out.answer({ id: run.id, job: run.job, created: run.created }, () => sentText(run))
}
