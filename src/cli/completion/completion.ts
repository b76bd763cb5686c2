import type { Command, Option } from 'commander'
import { bashScript } from './bash.ts'
import type { CompletedCommand, CompletedOption } from './completed-command.ts'
import { fishScript } from './fish.ts'
import { zshScript } from './zsh.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** Generates a shell script from the commands and options, so that completion runs no program. */
export function completionScript(program: Command, shell: Shell): string {
  const commands = commandsOf(program, [])
  switch (shell) {
    case 'bash':
      return bashScript(commands)
    case 'zsh':
      return zshScript(commands)
    case 'fish':
      return fishScript(commands)
  }
}

function commandsOf(command: Command, path: readonly string[]): readonly CompletedCommand[] {
  const shown = command.createHelp()
  const inner = shown.visibleCommands(command)
  const root = rootOf(command)
  const options = [...shown.visibleOptions(command), ...(root === command ? [] : shown.visibleOptions(root))]
  const own = {
    path: path.join(' '),
    commands: inner.map((each) => ({ word: each.name(), help: each.summary() || each.description() })),
    options: distinct(options).map(optionOf),
  }
  return [own, ...inner.flatMap((each) => commandsOf(each, [...path, each.name()]))]
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent)
}

function distinct(options: readonly Option[]): readonly Option[] {
  return [...new Map(options.map((option) => [option.long ?? option.flags, option])).values()]
}

function optionOf(option: Option): CompletedOption {
  const { long, short, flags, description } = option
  return {
    word: long ?? short ?? flags,
    help: description,
    hasValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  }
}
