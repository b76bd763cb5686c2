import type { Command } from 'commander'
import type { Why } from '../../../app/handles/why.ts'
import { examples } from '../../examples.ts'
import { wholeId } from '../../jobs/job-ids.ts'
import { stateColour } from '../../output/jobs/jobs.ts'
import type { Output } from '../../output/output.ts'
import { visibleLine } from '../../output/text.ts'
import { loadSoundJobs, lookIntoStore } from '../../session.ts'

export function addWhy(program: Command): void {
  program
    .command('why')
    .summary('explain why a job is not running')
    .argument('<id>', 'the id of the job')
    .description(
      'Explains what keeps a job from running: its scheduled time, a dependency, a paused queue, a concurrency or rate limit, no worker that has its handler, an open circuit breaker. Limits are read from the jobs defined in this project.',
    )
    .addHelpText(
      'after',
      examples(['why 0190d1a2-…', ''], ['why 0190d1a2-… --json | jq .reasons[].rule', 'failed jobs, as JSON']),
    )
    .action((id: string, _: unknown, command: Command) =>
      lookIntoStore(command, async (session) => {
        await loadSoundJobs(session)
        const why = await session.jobs.why(await wholeId(session.store, id))
        session.out.answer(why, () => whyText(why, session.out))
      }),
    )
}

function whyText({ id, job, state, reasons }: Why, { colours }: Output): string {
  const lines = reasons.map(({ rule, message }) => `  ${colours.bold(rule.padEnd(ruleWidth))}${visibleLine(message)}`)
  return [`${visibleLine(job)} ${visibleLine(id)} is ${stateColour(colours, state)(state)}`, ...lines].join('\n')
}

const ruleWidth = 13
