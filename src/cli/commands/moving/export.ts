import { once } from 'node:events'
import type { Command } from 'commander'
import { exportJobs } from '../../../moving/index.ts'
import { examples } from '../../examples.ts'
import { exitCodes } from '../../exit-codes.ts'
import { UsageError } from '../../failure.ts'
import { withSource } from '../../moving/source.ts'
import { progressWriter } from '../../output/moving/move-progress.ts'
import type { Output } from '../../output/output.ts'
import { plural } from '../../output/text.ts'
import { queue } from '../../values.ts'
import { stopRequest } from '../../working/signals.ts'

interface ExportCommandOptions {
  readonly from?: string
  readonly queue?: string
  readonly remove?: boolean
}

export function addExport(program: Command): void {
  program
    .command('export')
    .summary('write a queue to a file')
    .description(
      'Writes jobs, schedules and keys as JSON lines. The queue keeps them, unless --remove is given: then a job is either in the file or in the queue, and an interrupted export resumes with the same file.',
    )
    .argument('[file]', 'a file that does not exist yet; standard output by default')
    .option('--from <url>', 'where the jobs are; the queue of the project by default')
    .option('--queue <queue>', 'only this queue, with the workflows of its jobs', queue)
    .option('--remove', 'remove them from the queue; needs a file')
    .addHelpText(
      'after',
      examples(['export jobs.jsonl', ''], ['export --queue mail | gzip > mail.jsonl.gz', ''], ['export jobs.jsonl --remove', '']),
    )
    .action((file: string | undefined, options: ExportCommandOptions, command: Command) => {
      if (options.remove === true && file === undefined) throw new UsageError('--remove needs a file')
      return withSource(command, options.from, async (from, out) => {
        const { signal } = stopRequest(() => out.note('stopping'))
        const { queue: only, remove = false } = options
        const onProgress = progressWriter(out)
        const asked = { from, to: file ?? writeTo(out), remove, signal, onProgress, ...(only !== undefined && { queue: only }) }
        const report = await exportJobs(asked)
        out.clearProgress()
        if (file !== undefined) out.answer(report, () => `wrote ${plural(report.jobs, 'job')} to ${file}`)
        if (report.leftOut > 0) out.note(`${plural(report.leftOut, 'job')} left out: they run, or belong to a workflow that does`)
        for (const id of report.unreadable) out.note(`job ${id} could not be read`)
        if (signal.aborted) return exitCodes.interrupted
        return report.unreadable.length === 0 ? exitCodes.ok : exitCodes.failed
      })
    })
}

/** Waits for a slower reader. */
function writeTo(out: Output): (text: string) => Promise<void> {
  return async (text) => {
    if (!out.data(text)) await once(process.stdout, 'drain')
  }
}
