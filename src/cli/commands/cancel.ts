import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { withStore } from '../session.ts'

const wording = {
  cancelled: 'cancelled',
  requested: 'it is running: its worker was asked to stop it',
  ended: 'left alone: it has ended already',
  missing: 'there is no such job',
} as const

export function addCancel(program: Command): void {
  program
    .command('cancel')
    .summary('cancel jobs that wait or run')
    .description('Ends waiting jobs. The handler of a running one is asked to stop through its signal.')
    .argument('<id...>', 'the ids of the jobs')
    .addHelpText('after', examples(['cancel 0190d1a2-…', ''], ['cancel 0190d1a2-… 0190d1a3-…', 'several']))
    .action((ids: readonly string[], _: unknown, command: Command) =>
      withStore(command, async ({ store, out }) => {
        const results = await Promise.all(ids.map(async (id) => ({ id, outcome: await store.cancel(id) })))
        out.answer(results, () => results.map(({ id, outcome }) => `${id}  ${wording[outcome]}`).join('\n'))
        if (results.some(({ outcome }) => outcome === 'missing')) return exitCodes.notFound
        return results.some(({ outcome }) => outcome === 'ended') ? exitCodes.failed : exitCodes.ok
      }),
    )
}
