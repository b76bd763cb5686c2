import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { UsageError } from '../failure.ts'

/** Commander's own `help` prints the general help for an unknown command, as if nothing were wrong. */
export function addHelp(program: Command): void {
  program
    .command('help')
    .summary('print the help for a command')
    .argument('[command...]', 'the command')
    .addHelpText('after', examples(['help', 'all commands, and the exit codes'], ['help dead purge', '']))
    .action((names: readonly string[]) => {
      const found = names.reduce((command, name) => subcommand(command, name), program)
      found.outputHelp()
    })
}

function subcommand(command: Command, name: string): Command {
  const found = command.commands.find((candidate) => candidate.name() === name)
  if (found !== undefined) return found
  const known = command.commands.map((candidate) => candidate.name()).join(', ')
  throw new UsageError(`unknown command '${name}'${known === '' ? '' : `; known: ${known}`}`)
}
