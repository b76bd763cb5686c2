import { type Command, Option } from 'commander'
import { messageOf } from '../../core/errors.ts'
import { type EventDetail, eventDetailNames } from '../../execution/event-details.ts'
import { eventNames } from '../../execution/events.ts'
import { examples } from '../examples.ts'
import { UsageError } from '../failure.ts'
import { queueEventJson, queueEventLine } from '../output/event-lines.ts'
import { refuseMissing } from '../project.ts'
import { lookOnly, withProject } from '../session.ts'
import { collect, queues, tags } from '../values.ts'
import { stopRequest } from '../working/signals.ts'

interface EventsCommandOptions {
  readonly job?: readonly string[]
  readonly queue?: readonly string[]
  readonly tag?: readonly string[]
  readonly id?: readonly string[]
  readonly type?: readonly string[]
  readonly with?: readonly EventDetail[]
}

export function addEvents(program: Command): void {
  program
    .command('events')
    .summary('follow what happens in all processes')
    .description(
      'Prints what happens to jobs, workers and schedules in every process of the queue, until Ctrl-C. Programs notice within a second that there is a listener. Events that arrive faster than they can be printed are dropped, and their number is printed. With --json each line is a JSON object.',
    )
    .option(
      '--job <job>',
      'only events of jobs with this name, or with names that match a pattern such as mail-* (repeatable)',
      collect,
    )
    .option('--queue <name>', 'only events of jobs in this queue (repeatable)', queues)
    .option('--tag <tag>', 'only events of jobs with this tag (repeatable)', tags)
    .option('--id <id>', 'only events of this job (repeatable)', collect)
    .option(
      '--type <type>',
      `only events of this type, such as job:dead or job:* (repeatable): ${eventNames.join(', ')}`,
      collect,
    )
    .addOption(new Option('--with <details...>', 'print more of the jobs').choices([...eventDetailNames]))
    .addHelpText(
      'after',
      examples(
        ['events', ''],
        ['events --type job:dead --type job:failed', 'only failures'],
        ["events --job 'mail-*' --with payload result", 'with payloads and results'],
        ['events --json | jq', 'one JSON object per line'],
      ),
    )
    .action((options: EventsCommandOptions, command: Command) => followEvents(command, options))
}

async function followEvents(command: Command, options: EventsCommandOptions): Promise<void> {
  const { job, queue, tag, id, type: types, with: include } = options
  await withProject(
    command,
    async ({ jobs, out, project }) => {
      refuseMissing(project.missingFile)
      await jobs.open()
      const { signal } = stopRequest()
      const given = { job, queue, tag, id, types, include }
      const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
      const events = asUsage(() => jobs.events({ ...filter, signal, decrypt: false }))
      await events.listening
      out.note('listening; press Ctrl-C to end')
      for await (const event of events) out.line(out.json ? queueEventJson(event) : queueEventLine(event, out.colours))
    },
    lookOnly,
  )
}

/** What the library refuses came from the command line. */
function asUsage<Answer>(call: () => Answer): Answer {
  try {
    return call()
  } catch (thrown) {
    throw new UsageError(messageOf(thrown))
  }
}
