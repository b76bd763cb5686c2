import { Argument, type Command } from 'commander'
import { completionScript, type Shell, shells } from '../completion/completion.ts'
import { examples } from '../examples.ts'

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .summary('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText(
      'after',
      examples(
        ['completion bash >> ~/.bashrc', ''],
        ['completion zsh > ~/.zfunc/_treadle', 'in a folder of $fpath'],
        ['completion fish > ~/.config/fish/completions/treadle.fish', ''],
      ),
    )
    .action((shell: Shell) => {
      process.stdout.write(completionScript(program, shell))
    })
}
