import type { Command } from 'commander'
import { examples } from '../../examples.ts'
import { workerJson, workerTable } from '../../output/workers/workers.ts'
import { lookIntoStore } from '../../session.ts'

export function addWorkers(program: Command): void {
  program
    .command('workers')
    .summary('list workers and their health')
    .description(
      'Lists the workers that sent a heartbeat in the last seconds: how many jobs each is running, which queues it takes jobs from, and when it last checked the schedules.',
    )
    .addHelpText('after', examples(['workers', ''], ['workers --json', 'with the jobs that each can run']))
    .action((_: unknown, command: Command) =>
      lookIntoStore(command, async ({ store, out, now }) => {
        const workers = await store.workers.list()
        out.answer(workers.map(workerJson), () => (workers.length === 0 ? 'no workers' : workerTable(workers, out, now)))
      }),
    )
}
