import type { Command } from 'commander'
import type { Why } from '../../app/why.ts'
import { examples } from '../examples.ts'
import { stateColour } from '../output/jobs.ts'
import type { Output } from '../output/output.ts'
import { visible } from '../output/text.ts'
import { loadSoundJobs, lookIntoStore } from '../session.ts'

export function addWhy(program: Command): void {
  program
    .command('why')
    .summary('say why a job is not running')
    .argument('<id>', 'the id of the job')
    .description(
      'Names what keeps a job from running: its time, what it depends on, a paused queue, a limit or a rate, no worker with its handler, an open circuit breaker. Limits are those of the jobs that are defined here.',
    )
    .addHelpText('after', examples(['why 0190d1a2-…', ''], ['why 0190d1a2-… --json | jq .reasons[].rule', 'for programs']))
    .action((id: string, _: unknown, command: Command) =>
      lookIntoStore(command, async (session) => {
        await loadSoundJobs(session)
        const why = await session.jobs.why(id)
        session.out.answer(why, () => whyText(why, session.out))
      }),
    )
}

function whyText({ id, job, state, reasons }: Why, { colours }: Output): string {
  const lines = reasons.map(({ rule, message }) => `  ${colours.bold(rule.padEnd(ruleWidth))}${visible(message)}`)
  return [`${visible(job)} ${visible(id)} is ${stateColour(colours, state)(state)}`, ...lines].join('\n')
}

const ruleWidth = 13
