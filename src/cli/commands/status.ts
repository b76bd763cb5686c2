import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { statusText } from '../output/status.ts'
import { visible } from '../output/text.ts'
import { withStore } from '../session.ts'
import { readStatus } from '../status.ts'

export function addStatus(program: Command): void {
  program
    .command('status')
    .summary('what waits, runs and failed, by queue')
    .description('Counts by queue and state, jobs that nobody here can run, and when schedules run next.')
    .addHelpText('after', examples(['status', ''], ['status --json', 'for monitoring']))
    .action((_: unknown, command: Command) =>
      withStore(command, async ({ project, jobs, store, out, now }) => {
        const loaded = await project.loadJobs()
        const problems = [...loaded.problems.map(({ message }) => message), ...jobs.problems()]
        for (const problem of problems) out.note(`note: ${visible(problem)}`)
        const status = await readStatus(project, store, now, problems.length === 0)
        out.answer(status, () => statusText(status, out, now))
      }),
    )
}
