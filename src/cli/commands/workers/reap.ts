import type { Command } from 'commander'
import { examples } from '../../examples.ts'
import { plural } from '../../output/text.ts'
import { withStore } from '../../session.ts'
import { wholeNumber } from '../../values.ts'

const defaultMaxRescues = 3

export function addReap(program: Command): void {
  program
    .command('reap')
    .summary('return jobs whose workers have died')
    .description(
      'Workers do this regularly; reap does it now. It returns jobs to the queue whose lease has expired because their worker died. A job that has lost too many workers ends as dead (poisoned). Jobs of live workers are never touched.',
    )
    .option('--max-rescues <n>', `how many workers a job may lose (default: ${defaultMaxRescues})`, wholeNumber(0, 1_000))
    .addHelpText('after', examples(['reap', ''], ['reap --json', 'failed jobs, as JSON']))
    .action(({ maxRescues = defaultMaxRescues }: { readonly maxRescues?: number }, command: Command) =>
      withStore(command, async ({ jobs, out }) => {
        const report = await (await jobs.open()).reap(maxRescues)
        const { returned, poisoned } = report
        const died = poisoned === 0 ? '' : `; ${plural(poisoned, 'job')} ended as dead (poisoned)`
        out.answer(report, () => `returned ${plural(returned, 'job')} to the queue${died}`)
      }),
    )
}
