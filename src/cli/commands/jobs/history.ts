import type { Command } from 'commander'
import { TreadleError } from '../../../core/errors.ts'
import { nearest } from '../../../core/options.ts'
import { examples } from '../../examples.ts'
import { historyJson, historyOf, historyText } from '../../output/jobs/history.ts'
import { lookIntoStore } from '../../session.ts'
import { wholeNumber } from '../../values.ts'

interface HistoryOptions {
  readonly limit: number
}

export function addHistory(program: Command): void {
  program
    .command('history')
    .summary('show the latest runs of a job, with small charts')
    .argument('<name>', 'the name of the job or the schedule')
    .description(
      'Shows how the newest jobs with this key ended: how many of each outcome, how long they waited and ran, and when they ended. It looks at a bounded number of jobs, and says how far back that was.',
    )
    .option('--limit <n>', 'the number of newest jobs to look at', wholeNumber(1, 10_000), 500)
    .addHelpText('after', examples(['history send-email', ''], ['history send-email --json', 'for programs']))
    .action((name: string, { limit }: HistoryOptions, command: Command) =>
      lookIntoStore(command, async ({ store, out, now }) => {
        const records = await store.list({ job: name, limit })
        if (records.length === 0) throw unknown(name, [...new Set((await store.counts()).map(({ job }) => job))])
        const history = historyOf(name, records, limit)
        out.answer(historyJson(history), () => historyText(history, out, now))
      }),
    )
}

function unknown(name: string, known: readonly string[]): TreadleError {
  const near = nearest(name, known)
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`
  return new TreadleError('JOB_UNKNOWN', `There is no job "${name}" in this queue: none was sent, or none is kept.${meant}`)
}
