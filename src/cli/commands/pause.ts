import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { UsageError } from '../failure.ts'
import { visibleLine } from '../output/text.ts'
import { relativeTime, zonedTime } from '../output/time.ts'
import { readSchedules, refuseUnknownSchedule, type ScheduleStatus } from '../schedules/schedules.ts'
import { loadSoundJobs, withProject } from '../session.ts'
import { collect, queues } from '../values.ts'

interface PauseOptions {
  readonly schedule?: readonly string[]
  readonly job?: readonly string[]
}

type Verb = 'pause' | 'resume'

export function addPause(program: Command): void {
  program
    .command('pause')
    .summary('pause queues, jobs or schedules')
    .description(
      'Workers finish their running jobs and take no more from these queues; new jobs are still accepted. With --job, they take no more jobs with this name from any queue. A paused schedule does not run on any worker until it is resumed, even after a restart.',
    )
    .argument('[queue...]', 'the queues', queues)
    .option('--job <job>', 'jobs with this name instead of queues; can be repeated', collect)
    .option('--schedule <name>', 'a schedule instead of queues; can be repeated', collect)
    .addHelpText(
      'after',
      examples(
        ['pause mail', ''],
        ['pause mail reports', 'several'],
        ['pause --job send-email', 'jobs with this name, in every queue'],
        ['pause --schedule digest', 'stop running this schedule'],
      ),
    )
    .action((names: readonly string[], options: PauseOptions, command: Command) => change(command, names, options, 'pause'))
}

export function addResume(program: Command): void {
  program
    .command('resume')
    .summary('resume paused queues, jobs or schedules')
    .description(
      'Resumes paused queues, or jobs that are paused by name. A schedule continues with its next run; the runs missed during the pause are not caught up.',
    )
    .argument('[queue...]', 'the queues', queues)
    .option('--job <job>', 'jobs with this name instead of queues; can be repeated', collect)
    .option('--schedule <name>', 'a schedule instead of queues; can be repeated', collect)
    .addHelpText('after', examples(['resume mail', ''], ['resume mail reports', 'several'], ['resume --schedule digest', '']))
    .action((names: readonly string[], options: PauseOptions, command: Command) => change(command, names, options, 'resume'))
}

const past = { pause: 'paused', resume: 'resumed' } as const

async function change(command: Command, names: readonly string[], options: PauseOptions, verb: Verb): Promise<void> {
  const { schedule = [], job = [] } = options
  const given = [names, job, schedule].filter(({ length }) => length > 0).length
  if (given !== 1) {
    const found = given === 0 ? 'none was given' : 'several were given'
    throw new UsageError(`give either the names of queues, --job KEY or --schedule NAME: ${found}`)
  }
  if (names.length > 0) await changeQueues(command, names, verb)
  else if (job.length > 0) await changeJobs(command, job, verb)
  else await changeSchedules(command, schedule, verb)
}

async function changeJobs(command: Command, names: readonly string[], verb: Verb): Promise<void> {
  await withProject(command, async ({ jobs, out }) => {
    for (const job of names) await jobs[verb]({ job })
    const store = await jobs.store()
    const pausedJobs = (await store.paused()).jobs
    const lines = names.map((name) => `${past[verb]} jobs with the key ${visibleLine(name)}`)
    out.answer({ [past[verb]]: names, pausedJobs }, () => lines.join('\n'))
    const known = new Set<string>()
    for (const job of names) if ((await store.counts({ job })).length > 0) known.add(job)
    const unknown = names.filter((name) => !known.has(name))
    if (!out.json && unknown.length > 0)
      out.note(`note: there is no job yet with the key ${unknown.map(visibleLine).join(', ')}; is it right?${noPattern(unknown)}`)
  })
}

function noPattern(keys: readonly string[]): string {
  return keys.some((key) => key.includes('*')) ? ' A pattern pauses nothing: name each job' : ''
}

async function changeQueues(command: Command, names: readonly string[], verb: Verb): Promise<void> {
  await withProject(command, async ({ jobs, out }) => {
    const store = await jobs.store()
    for (const name of names) await store.setPaused({ queue: name }, verb === 'pause')
    const pausedQueues = (await store.paused()).queues
    out.answer({ [past[verb]]: names, pausedQueues }, () => names.map((name) => `${past[verb]} ${name}`).join('\n'))
    const unknown: string[] = []
    for (const name of names) if ((await store.counts({ queue: name })).length === 0) unknown.push(name)
    if (!out.json && unknown.length > 0) out.note(`note: there are no jobs yet in ${unknown.join(', ')}; is the name right?`)
  })
}

/** Works even if a job file is broken, which may be the very reason to pause its schedule. */
export async function changeSchedules(command: Command, names: readonly string[], verb: Verb): Promise<void> {
  await withProject(command, async (session) => {
    const { jobs, out, now } = session
    const complete = await loadSoundJobs(session)
    const known = await readSchedules(jobs, now, complete)
    for (const name of names) refuseUnknownSchedule(name, known)
    for (const name of names) await jobs.schedules[verb](name)
    const changed = (await readSchedules(jobs, now, complete)).filter(
      ({ schedule, key }) => names.includes(schedule) || (key !== null && names.includes(key)),
    )
    out.answer({ [past[verb]]: names, schedules: changed }, () =>
      changed.map((schedule) => changedText(verb, schedule, now)).join('\n'),
    )
  })
}

function changedText(verb: Verb, { schedule, key, nextAt, timezone }: ScheduleStatus, now: number): string {
  const what = `${past[verb]} the schedule ${visibleLine(key ?? schedule)}`
  if (verb === 'pause' || nextAt === null) return what
  const at = Date.parse(nextAt)
  return `${what}: next run ${zonedTime(at, timezone)} (${relativeTime(at, now)})`
}
