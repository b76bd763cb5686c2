import type { Command } from 'commander'
import type { JobStore, TreeCancellation } from '../../backends/store.ts'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Output } from '../output/output.ts'
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
    .option('--tree', 'with everything that they made and everything that waits for them; an id may be that of a workflow')
    .addHelpText(
      'after',
      examples(
        ['cancel 0190d1a2-…', ''],
        ['cancel 0190d1a2-… 0190d1a3-…', 'several'],
        ['cancel 0190d1a2-… --tree', 'a workflow, or a job with its children'],
      ),
    )
    .action((ids: readonly string[], { tree = false }: { readonly tree?: boolean }, command: Command) =>
      withStore(command, ({ store, out }) => (tree ? cancelTrees(ids, store, out) : cancelJobs(ids, store, out))),
    )
}

async function cancelJobs(ids: readonly string[], store: JobStore, out: Output): Promise<number> {
  const results = await Promise.all(ids.map(async (id) => ({ id, outcome: await store.cancel(id) })))
  out.answer(results, () => results.map(({ id, outcome }) => `${id}  ${wording[outcome]}`).join('\n'))
  if (results.some(({ outcome }) => outcome === 'missing')) return exitCodes.notFound
  return results.some(({ outcome }) => outcome === 'ended') ? exitCodes.failed : exitCodes.ok
}

async function cancelTrees(ids: readonly string[], store: JobStore, out: Output): Promise<number> {
  const results: ({ readonly id: string } & TreeCancellation)[] = []
  for (const id of ids) results.push({ id, ...(await store.cancelTree(id)) })
  out.answer(results, () => results.map(treeLine).join('\n'))
  if (results.some(({ cancelled, requested, ended }) => cancelled + requested + ended === 0)) return exitCodes.notFound
  return results.some(({ cancelled, requested }) => cancelled + requested === 0) ? exitCodes.failed : exitCodes.ok
}

function treeLine({ id, cancelled, requested, ended }: { readonly id: string } & TreeCancellation): string {
  if (cancelled + requested + ended === 0) return `${id}  ${wording.missing}`
  return `${id}  ${cancelled} cancelled, ${requested} running and asked to stop, ${ended} had ended already`
}
