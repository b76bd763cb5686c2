import type { Command } from 'commander'
import { checkProject } from '../check.ts'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { checkText } from '../output/check.ts'
import { type GlobalOptions, withOutput } from '../session.ts'

export function addCheck(program: Command): void {
  program
    .command('check')
    .summary('check the config and all jobs')
    .description(
      'Loads the config and all job files, and prints everything that is wrong with them, and what of their schedules is probably not meant. It does not touch the database.',
    )
    .option('--strict', 'end with exit code 1 for warnings too')
    .addHelpText(
      'after',
      examples(
        ['check', ''],
        ['check --strict', 'for a build: warnings count as problems'],
        ['check --json', ''],
        ['check && treadle work', 'start only what is sound'],
      ),
    )
    .action((options: { readonly strict?: boolean }, command: Command) =>
      withOutput(command, async ({ out, now }) => {
        const report = await checkProject(command.optsWithGlobals<GlobalOptions>(), process.cwd(), now)
        out.answer(report, () => checkText(report, out, now))
        const found = report.problems.length + (options.strict ? report.warnings.length : 0)
        return found === 0 ? exitCodes.ok : exitCodes.failed
      }),
    )
}
