import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { statusJson, statusText } from '../output/status.ts'
import { loadSoundJobs, lookIntoStore } from '../session.ts'
import { readStatus } from '../status.ts'

export function addStatus(program: Command): void {
  program
    .command('status')
    .summary('what waits, runs and failed, by queue')
    .description('Counts by queue and state, jobs that nobody here can run, how schedules stand, and which workers live.')
    .addHelpText('after', examples(['status', ''], ['status --json', 'for monitoring']))
    .action((_: unknown, command: Command) =>
      lookIntoStore(command, async (session) => {
        const { project, store, out, now } = session
        const complete = await loadSoundJobs(session)
        const status = await readStatus(project, store, now, complete)
        out.answer(statusJson(status), () => statusText(status, out, now))
      }),
    )
}
