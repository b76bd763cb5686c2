import type { Command } from 'commander'
import { examples } from '../../examples.ts'
import { addPurge } from './dead-purge.ts'
import { addReplay } from './dead-replay.ts'
import { type ListOptions, listOptions, printJobs } from './list.ts'
import { printJob } from './show.ts'

export function addDead(program: Command): void {
  const dead = program
    .command('dead')
    .summary('list, replay and delete failed jobs (dead-letter queue)')
    .description(
      'Failed jobs: their retries are exhausted, they were rejected, or they kept crashing their workers. They are kept, with their errors, until you replay or delete them.',
    )
    .usage('<command> [options]')
    .addHelpText(
      'after',
      examples(['dead list', ''], ['dead replay --all --job send-email', ''], ['dead purge --older-than 30d', '']),
    )
  listOptions(dead.command('list'))
    .summary('list dead (failed) jobs, newest first')
    .addHelpText('after', examples(['dead list', ''], ['dead list --queue mail --json', '']))
    .action((options: ListOptions, command: Command) => printJobs(command, { ...options, state: 'dead' }))
  dead
    .command('show')
    .summary('show a dead job, with the stack traces of its errors')
    .argument('<id>', 'the id of the job')
    .addHelpText('after', examples(['dead show 0190d1a2-…', '']))
    .action((id: string, _: unknown, command: Command) => printJob(command, id))
  addReplay(dead)
  addPurge(dead)
}
