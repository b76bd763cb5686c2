import type { Command } from 'commander'
import { type MoveOptions, type MoveReport, move, planMove } from '../../../moving/index.ts'
import { examples } from '../../examples.ts'
import { exitCodes } from '../../exit-codes.ts'
import { keyNote } from '../../moving/key-note.ts'
import { withSource } from '../../moving/source.ts'
import { progressWriter } from '../../output/moving/move-progress.ts'
import { planText, reportText } from '../../output/moving/move-report.ts'
import { duration, queue } from '../../values.ts'
import { stopRequest } from '../../working/signals.ts'

interface MoveCommandOptions {
  readonly from?: string
  readonly to: string
  readonly queue?: string
  readonly live?: boolean
  readonly idle?: string
  readonly dryRun?: boolean
}

export function addMove(program: Command): void {
  program
    .command('move')
    .summary('move a queue to another database')
    .description(
      'Moves jobs, schedules and keys from one queue to another, with their whole history. A job is never in both queues. After an interruption, the same command resumes the move.',
    )
    .option('--from <url>', 'where the jobs are; the queue of the project by default')
    .requiredOption('--to <url>', 'where they go')
    .option('--queue <queue>', 'only this queue, with the workflows of its jobs', queue)
    .option('--live', 'while producers and workers use both sides')
    .option('--idle <duration>', 'with --live: end when there was nothing to move for this time (5s)', duration)
    .option('--dry-run', 'count what would be moved, and change nothing')
    .addHelpText(
      'after',
      examples(
        ['move --from sqlite:jobs.db --to postgres://localhost/app --dry-run', ''],
        ['move --from sqlite:jobs.db --to postgres://localhost/app', ''],
        ['move --to postgres://localhost/app --live', "the project's queue, while it is used"],
      ),
    )
    .action((options: MoveCommandOptions, command: Command) =>
      withSource(command, options.from, async (from, out, keyFile) => {
        const asked = { from, to: options.to, ...given(options) }
        if (options.dryRun === true) {
          const plan = await planMove(asked)
          out.answer(plan, () => planText(plan))
          return exitCodes.ok
        }
        const note = keyNote(keyFile, options.to)
        if (note !== null) out.note(`note: ${note}`)
        const { signal } = stopRequest(() => out.note('stopping: delivering what is in progress first'))
        const report = await move({ ...asked, signal, onProgress: progressWriter(out) })
        out.answer(report, () => reportText(report))
        return codeOf(report, signal)
      }),
    )
}

function given({ queue: only, live, idle }: MoveCommandOptions): Partial<MoveOptions> {
  return { ...(only !== undefined && { queue: only }), ...(live === true && { live }), ...(idle !== undefined && { idle }) }
}

function codeOf({ isComplete }: MoveReport, signal: AbortSignal): number {
  if (signal.aborted) return exitCodes.interrupted
  return isComplete ? exitCodes.ok : exitCodes.failed
}
