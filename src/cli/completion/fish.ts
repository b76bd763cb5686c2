import type { CompletedCommand } from './completed-command.ts'

/** For fish: one rule for each word that may follow. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  const rules = commands.flatMap(({ path, commands: inner, options }) => {
    const when = path === '' ? '__fish_use_subcommand' : seen(path)
    const words = inner.map(({ word, help }) => `complete -c treadle -f -n ${quoted(when)} -a ${word} -d ${quoted(help)}`)
    const flags = options.flatMap(({ word, help, hasValue, choices }) => {
      if (!word.startsWith('--')) return []
      const value = !hasValue ? '' : choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : ' -r'
      return [`complete -c treadle -n ${quoted(when)} -l ${word.slice(2)}${value} -d ${quoted(help)}`]
    })
    return [...words, ...flags]
  })
  return `# Completion of treadle for fish: treadle completion fish > ~/.config/fish/completions/treadle.fish\n${rules.join('\n')}\n`
}

function seen(path: string): string {
  return path
    .split(' ')
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join('; and ')
}

function quoted(text: string): string {
  return `'${text.replaceAll('\n', ' ').replaceAll(/['\\]/g, String.raw`\$&`)}'`
}
