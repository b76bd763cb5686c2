import { type Command, Option } from 'commander'
import type { Frequency, StoredSchedule, StoredScheduleOptions } from '../../../app/schedules/stored-schedule.ts'
import { messageOf } from '../../../core/errors.ts'
import { noPayload } from '../../../definition/dispatching/draft.ts'
import type { Overlap } from '../../../definition/policies/overlap.ts'
import { parseRecurrence } from '../../../definition/recurrence.ts'
import type { MisfireKind } from '../../../scheduling/misfire.ts'
import { examples } from '../../examples.ts'
import { UsageError } from '../../failure.ts'
import { refuseUnknownJobs } from '../../jobs/known-jobs.ts'
import { iso } from '../../output/jobs/jobs.ts'
import { visibleLine } from '../../output/text.ts'
import { relativeTime, zonedTime } from '../../output/time.ts'
import { occurrenceJson } from '../../schedules/schedules.ts'
import { withJobs } from '../../session.ts'
import { duration, instant, wholeNumber, zone } from '../../values.ts'
import { readPayload } from '../jobs/send.ts'

interface SetOptions {
  readonly job: string
  readonly payload?: string
  readonly payloadFile?: string
  readonly cron?: string
  readonly every?: string
  readonly repeat?: string
  readonly zone?: string
  readonly until?: Date
  readonly misfire?: MisfireKind
  readonly within?: string
  readonly cap?: number
  readonly overlap?: Overlap
  readonly force?: boolean
}

export function addSetSchedule(schedules: Command): void {
  schedules
    .command('set')
    .summary('create or change a stored schedule')
    .description(
      'Creates the schedule with this key, or replaces it: options that are not given get their defaults, not their previous values. Give one of --cron, --every and --repeat.',
    )
    .argument('<key>', 'its key, such as acme/digest')
    .requiredOption('--job <job>', 'the name of its job')
    .option('--payload <json>', 'the payload of each run, or - to read it from standard input')
    .option('--payload-file <file>', 'read the payload from a file')
    .option('--cron <expression>', 'five fields, six with seconds first, or @daily and the like')
    .option('--every <duration>', 'a fixed interval; the first run starts at once', duration)
    .option('--repeat <text>', 'counted from the previous run, such as "FINISHED, +1 HOUR"')
    .option('--zone <zone>', 'the time zone of --cron', zone)
    .option('--until <time>', 'no runs after this time, such as 2026-06-10T09:00:00Z', instant)
    .addOption(new Option('--misfire <policy>', 'what to do with missed runs').choices(['skip', 'latest', 'all']))
    .option('--within <duration>', 'with --misfire: how late a missed run may still be caught up', duration)
    .option('--cap <n>', 'with --misfire all: maximum number of runs', wholeNumber(1, 10_000))
    .addOption(
      new Option('--overlap <policy>', 'what to do while an earlier run is still running').choices(['allow', 'skip', 'queue']),
    )
    .option('--force', 'even if no job with this name is defined here')
    .addHelpText(
      'after',
      examples(
        [`schedules set acme/digest --job digest --cron '0 9 * * 1-5' --zone Europe/Paris`, ''],
        [`schedules set acme/sync --job sync --every 15m --payload '{"tenant":"acme"}'`, ''],
        ['schedules set acme/sync --job sync --every 1h', 'the same schedule, changed'],
      ),
    )
    .action((key: string, options: SetOptions, command: Command) => {
      const schedule = scheduleOptions(options)
      refuseUnreadable(key, schedule)
      return withJobs(command, async ({ jobs, out, now }) => {
        if (!options.force) refuseUnknownJobs(jobs, [options.job], ' Use --force to schedule it for another program.')
        const stored = await jobs.schedules.upsert(key, schedule)
        out.answer(storedJson(stored), () => `set the schedule ${visibleLine(key)}, ${stored.text}${nextText(stored, now)}`)
      })
    })
}

function storedJson({ until, since, last, nextAt, ...rest }: StoredSchedule): object {
  const times = { until: iso(until), since: iso(since), nextAt: iso(nextAt) }
  return { ...rest, ...times, last: last === null ? null : occurrenceJson(last) }
}

function nextText({ nextAt, timezone, state }: StoredSchedule, now: number): string {
  if (state === 'ended') return ': it has ended, because its --until has passed'
  return nextAt === null ? '' : `: next run ${zonedTime(nextAt, timezone)} (${relativeTime(nextAt, now)})`
}

/** An expression that cannot be read is wrong usage, as with `next`. */
function refuseUnreadable(key: string, schedule: StoredScheduleOptions): void {
  try {
    parseRecurrence(key, schedule, 'UTC')
  } catch (thrown) {
    throw new UsageError(messageOf(thrown), 'SCHEDULE_INVALID', { cause: thrown })
  }
}

function scheduleOptions(options: SetOptions): StoredScheduleOptions {
  const { job, zone: timezone, until, misfire, within, cap, overlap } = options
  if (misfire === undefined && (within ?? cap) !== undefined) throw new UsageError('--within and --cap need --misfire')
  const payload = readPayload(options.payload, options.payloadFile)
  return {
    job,
    ...frequencyOf(options),
    ...(payload !== noPayload && { payload }),
    ...(timezone !== undefined && { timezone }),
    ...(until !== undefined && { until }),
    ...(misfire !== undefined && {
      misfire: { kind: misfire, ...(within !== undefined && { within }), ...(cap !== undefined && { cap }) },
    }),
    ...(overlap !== undefined && { overlap }),
  }
}

function frequencyOf({ cron, every, repeat }: SetOptions): Frequency {
  const [frequency, ...others] = [
    ...(cron === undefined ? [] : [{ cron }]),
    ...(every === undefined ? [] : [{ every }]),
    ...(repeat === undefined ? [] : [{ repeat }]),
  ]
  if (frequency !== undefined && others.length === 0) return frequency
  throw new UsageError('give one of --cron, --every and --repeat')
}
