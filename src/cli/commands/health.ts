import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { type Health, healthOf, lookAt } from '../health.ts'
import type { Output } from '../output/output.ts'
import { plural, visibleLine, wrapped } from '../output/text.ts'
import { relativeTime } from '../output/time.ts'
import { readSchedules } from '../schedules/schedules.ts'
import { loadSoundJobs, lookIntoStore } from '../session.ts'

export function addHealth(program: Command): void {
  program
    .command('health')
    .summary('check the health of the queue, for people and monitoring')
    .description(
      'Lists problems, worst first: ready jobs without a worker, an open circuit breaker, jobs without a handler, schedules that no worker follows or that are overdue, jobs that have waited too long, jobs that failed for good in the last hour. Exits with 1 if there is a problem, and with 0 if all is well or there are only warnings.',
    )
    .addHelpText('after', examples(['health', ''], ['health --json', 'for monitoring'], ['health || page-somebody', '']))
    .action((_: unknown, command: Command) =>
      lookIntoStore(command, async (session) => {
        const { store, jobs, out, now } = session
        const complete = await loadSoundJobs(session)
        const health = healthOf(await lookAt(store, now, (at) => readSchedules(jobs, at, complete)))
        out.answer({ url: session.project.url, ...health }, () => healthText(health, out, now))
        return health.status === 'problem' ? exitCodes.failed : exitCodes.ok
      }),
    )
}

function healthText(
  { findings, workers, ready, running, dead, oldestReadyAt }: Health,
  { colours, width }: Output,
  now: number,
): string {
  const oldest = oldestReadyAt === null ? '' : `, the oldest became ready ${relativeTime(Date.parse(oldestReadyAt), now)}`
  const facts = `${plural(workers, 'worker')}, ${ready} ready${oldest}, ${running} running, ${dead} dead`
  const lines = findings.map(({ level, text }) =>
    level === 'problem'
      ? colours.red(wrapped(`problem: ${visibleLine(text)}`, width, '  '))
      : colours.yellow(wrapped(`warning: ${visibleLine(text)}`, width, '  ')),
  )
  return [...(lines.length === 0 ? [colours.green('all is well')] : lines), colours.dim(wrapped(facts, width))].join('\n')
}
