import type { Command } from 'commander'
import { checkProject } from '../check.ts'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { checkText } from '../output/check.ts'
import { type GlobalOptions, withOutput } from '../session.ts'

export function addCheck(program: Command): void {
  program
    .command('check')
    .summary('check the config and all job files')
    .description(
      'Loads the config and all job files, and prints every problem in them, and every schedule that probably does not mean what its author intended. It does not touch the database.',
    )
    .option('--strict', 'exit with code 1 for warnings too')
    .addHelpText(
      'after',
      examples(
        ['check', ''],
        ['check --strict', 'in CI: treat warnings as problems'],
        ['check --json', ''],
        ['check && treadle work', 'start only if everything is valid'],
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
