import type { Command } from 'commander'
import { TreadleError } from '../../../core/errors.ts'
import { nearest } from '../../../core/options.ts'
import { finalStates, isFinal, jobStates } from '../../../queue/contract/job-state.ts'
import type { JobRecord, JobStore } from '../../../queue/contract/store.ts'
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
      'Shows how the newest jobs with this key ended: how many of each outcome, how long they waited and ran, and when they ended. It looks at a bounded number of ended jobs, and says how far back that was.',
    )
    .option('--limit <n>', 'the number of newest ended jobs to look at', wholeNumber(1, 10_000), 500)
    .addHelpText('after', examples(['history send-email', ''], ['history send-email --json', 'for programs']))
    .action((name: string, { limit }: HistoryOptions, command: Command) =>
      lookIntoStore(command, async ({ store, out, now }) => {
        const [ended, living] = await Promise.all([newestEnded(store, name, limit), livingOf(store, name)])
        if (ended.length + living === 0) throw unknown(name, [...new Set((await store.counts()).map(({ job }) => job))])
        const history = historyOf(name, ended, living, limit)
        out.answer(historyJson(history), () => historyText(history, out, now))
      }),
    )
}

/** Asked state by state: a backlog of waiting jobs must not hide those that have ended. */
async function newestEnded(store: JobStore, job: string, limit: number): Promise<readonly JobRecord[]> {
  const lists = await Promise.all(finalStates.map((state) => store.list({ job, state, limit })))
  const newestFirst = (a: JobRecord, b: JobRecord) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)
  return lists.flat().toSorted(newestFirst).slice(0, limit)
}

async function livingOf(store: JobStore, job: string): Promise<number> {
  const counts = await store.counts({ job })
  const living = jobStates.filter((state) => !isFinal(state))
  return counts.reduce((sum, { counts: each }) => living.reduce((total, state) => total + each[state], sum), 0)
}

function unknown(name: string, known: readonly string[]): TreadleError {
  const near = nearest(name, known)
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`
  return new TreadleError('JOB_UNKNOWN', `There is no job "${name}" in this queue: none was sent, or none is kept.${meant}`)
}
