import type { Command } from 'commander'
import { type JobLog, readJobLog } from '../../../app/handles/job-log.ts'
import { pause, systemClock } from '../../../core/time/clock.ts'
import { isFinal } from '../../../queue/contract/job-state.ts'
import type { JobStore } from '../../../queue/contract/store.ts'
import { examples } from '../../examples.ts'
import { findJob } from '../../jobs/job-ids.ts'
import { lineJson, logLines } from '../../output/jobs/log-lines.ts'
import type { Output } from '../../output/output.ts'
import { lookIntoStore } from '../../session.ts'
import { wholeNumber } from '../../values.ts'
import { stopRequest } from '../../working/signals.ts'

interface LogsCommandOptions {
  readonly follow?: boolean
  readonly after: number
}

export function addLogs(program: Command): void {
  program
    .command('logs')
    .summary('print what a job has logged')
    .argument('<id>', 'the job id, or a unique prefix')
    .description(
      'Prints what the handler logged with ctx.log and ctx.logger, and what isolated handlers and programs printed: all attempts, oldest first, as far as it is kept. With --json each line is a JSON object.',
    )
    .option('--follow', 'keep printing until the job has finished')
    .option('--after <n>', 'only lines after this one, by its number', wholeNumber(0), 0)
    .addHelpText(
      'after',
      examples(
        ['logs 0190d1a2-…', ''],
        ['logs 0190d1a2-… --follow', 'while it runs'],
        ['logs 0190d1a2-… --json | jq', 'one JSON object per line'],
      ),
    )
    .action((id: string, options: LogsCommandOptions, command: Command) => printLogs(command, id, options))
}

const followMs = 500

async function printLogs(command: Command, given: string, { follow = false, after }: LogsCommandOptions): Promise<void> {
  await lookIntoStore(command, async ({ store, out }) => {
    const { id } = await findJob(store, given)
    const stop = follow ? stopRequest().signal : undefined
    let last = after
    // The last lines are written just after the job ends, so read once more after seeing its end.
    for (let isOver = !follow; ; ) {
      const isLast = isOver || stop?.aborted === true
      isOver = isLast || (await hasEnded(store, id))
      last = await printFrom(store, id, last, out)
      if (isLast) break
      await pause(systemClock, followMs, stop)
    }
    if (last === 0 && !out.json) out.note('nothing was logged')
  })
}

async function hasEnded(store: JobStore, id: string): Promise<boolean> {
  const job = await store.get(id)
  return job === null || isFinal(job.state)
}

/** Prints up to the last line. */
async function printFrom(store: JobStore, id: string, after: number, out: Output): Promise<number> {
  for (let last = after; ; ) {
    const page = await readJobLog(store.logs, id, { after: last }, null)
    if (page.last === last) return last
    for (const line of pageLines(page, last, out)) out.line(line)
    last = page.last
  }
}

function pageLines({ lines }: JobLog, after: number, out: Output): readonly string[] {
  return out.json ? lines.map((line) => JSON.stringify(lineJson(line))) : logLines(lines, out.colours, after)
}
