import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { plural } from '../output/text.ts'
import { withStore } from '../session.ts'

export function addPrune(program: Command): void {
  program
    .command('prune')
    .summary('delete ended jobs that were kept long enough')
    .description(
      'Does now what workers do now and then: deletes ended jobs that are older than "keep" in the config says. A job that waits or runs is never touched, however old it is.',
    )
    .addHelpText('after', examples(['prune', ''], ['prune --json', 'prints {"deleted":123}']))
    .action((_: unknown, command: Command) =>
      withStore(command, async ({ jobs, out }) => {
        const deleted = await jobs.prune()
        out.answer({ deleted }, () => `deleted ${plural(deleted, 'ended job')}`)
      }),
    )
}
