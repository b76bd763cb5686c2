import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { withStore } from '../session.ts'
import { queues } from '../values.ts'

export function addPause(program: Command): void {
  program
    .command('pause')
    .summary('stop taking jobs from queues')
    .description('Workers finish what they run and take nothing more from these queues. New jobs are still accepted.')
    .argument('<queue...>', 'the queues', queues)
    .addHelpText('after', examples(['pause mail', ''], ['pause mail reports', 'several']))
    .action((names: readonly string[], _: unknown, command: Command) => changeQueues(command, names, 'pause'))
}

export function addResume(program: Command): void {
  program
    .command('resume')
    .summary('take jobs from paused queues again')
    .argument('<queue...>', 'the queues', queues)
    .addHelpText('after', examples(['resume mail', ''], ['resume mail reports', 'several']))
    .action((names: readonly string[], _: unknown, command: Command) => changeQueues(command, names, 'resume'))
}

const past = { pause: 'paused', resume: 'resumed' } as const

async function changeQueues(command: Command, names: readonly string[], verb: 'pause' | 'resume'): Promise<void> {
  await withStore(command, async ({ store, out }) => {
    for (const name of names) await store[verb](name)
    const pausedQueues = await store.pausedQueues()
    out.answer({ [past[verb]]: names, pausedQueues }, () => names.map((name) => `${past[verb]} ${name}`).join('\n'))
    const known = new Set((await store.counts()).map(({ queue }) => queue))
    const unknown = names.filter((name) => !known.has(name))
    if (!out.json && unknown.length > 0) out.note(`note: there is no job yet in ${unknown.join(', ')}; is the name right?`)
  })
}
