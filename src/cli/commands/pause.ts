import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { UsageError } from '../failure.ts'
import { visibleLine } from '../output/text.ts'
import { relativeTime, zonedTime } from '../output/time.ts'
import { readSchedules, refuseUnknownSchedule, type ScheduleStatus } from '../schedules.ts'
import { loadSoundJobs, withProject } from '../session.ts'
import { collect, queues } from '../values.ts'

interface PauseOptions {
  readonly schedule?: readonly string[]
}

type Verb = 'pause' | 'resume'

export function addPause(program: Command): void {
  program
    .command('pause')
    .summary('stop taking jobs from queues, or stop schedules')
    .description(
      'Workers finish what they run and take nothing more from these queues; new jobs are still accepted. A schedule that is paused has no more runs until it is resumed, on all workers, also after a restart.',
    )
    .argument('[queue...]', 'the queues', queues)
    .option('--schedule <name>', 'this schedule in place of queues; may be repeated', collect)
    .addHelpText(
      'after',
      examples(
        ['pause mail', ''],
        ['pause mail reports', 'several'],
        ['pause --schedule digest', 'no more runs of this schedule'],
      ),
    )
    .action((names: readonly string[], options: PauseOptions, command: Command) => change(command, names, options, 'pause'))
}

export function addResume(program: Command): void {
  program
    .command('resume')
    .summary('take jobs from paused queues again, or follow paused schedules')
    .description(
      'Takes jobs from paused queues again. A schedule goes on with its next run; those of the pause are not made up for.',
    )
    .argument('[queue...]', 'the queues', queues)
    .option('--schedule <name>', 'this schedule in place of queues; may be repeated', collect)
    .addHelpText('after', examples(['resume mail', ''], ['resume mail reports', 'several'], ['resume --schedule digest', '']))
    .action((names: readonly string[], options: PauseOptions, command: Command) => change(command, names, options, 'resume'))
}

const past = { pause: 'paused', resume: 'resumed' } as const

async function change(command: Command, names: readonly string[], { schedule = [] }: PauseOptions, verb: Verb): Promise<void> {
  if (names.length > 0 === schedule.length > 0) {
    const found = names.length === 0 ? 'neither was given' : 'both were given'
    throw new UsageError(`give either the names of queues or --schedule NAME: ${found}`)
  }
  await (names.length > 0 ? changeQueues(command, names, verb) : changeSchedules(command, schedule, verb))
}

async function changeQueues(command: Command, names: readonly string[], verb: Verb): Promise<void> {
  await withProject(command, async ({ jobs, out }) => {
    const store = await jobs.store()
    for (const name of names) await store[verb](name)
    const pausedQueues = await store.pausedQueues()
    out.answer({ [past[verb]]: names, pausedQueues }, () => names.map((name) => `${past[verb]} ${name}`).join('\n'))
    const known = new Set((await store.counts()).map(({ queue }) => queue))
    const unknown = names.filter((name) => !known.has(name))
    if (!out.json && unknown.length > 0) out.note(`note: there is no job yet in ${unknown.join(', ')}; is the name right?`)
  })
}

/** Works also while a job file is broken, which may be the very reason to pause its schedule. */
async function changeSchedules(command: Command, names: readonly string[], verb: Verb): Promise<void> {
  await withProject(command, async (session) => {
    const { jobs, out, now } = session
    const complete = await loadSoundJobs(session)
    const known = (await readSchedules(jobs, now, complete)).map(({ schedule }) => schedule)
    for (const name of names) refuseUnknownSchedule(name, known)
    for (const name of names) await jobs.schedules[verb](name)
    const changed = (await readSchedules(jobs, now, complete)).filter(({ schedule }) => names.includes(schedule))
    out.answer({ [past[verb]]: names, schedules: changed }, () =>
      changed.map((schedule) => changedText(verb, schedule, now)).join('\n'),
    )
  })
}

function changedText(verb: Verb, { schedule, nextAt, timezone }: ScheduleStatus, now: number): string {
  const what = `${past[verb]} the schedule ${visibleLine(schedule)}`
  if (verb === 'pause' || nextAt === null) return what
  const at = Date.parse(nextAt)
  return `${what}: next run ${zonedTime(at, timezone)} (${relativeTime(at, now)})`
}
