import type { CompletedCommand } from './completed-command.ts'

/** For bash: finds the command among the words before the cursor, then offers what may follow it. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(({ path, commands: inner, options }) => {
    const words = [...inner, ...options].map(({ word }) => word).join(' ')
    return `    ${quoted(path)}) words=${quoted(words)} ;;`
  })
  const known = commands.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  const valued = new Set(commands.flatMap(({ options }) => options.filter(({ hasValue }) => hasValue).map(({ word }) => word)))
  const choices = new Map(
    commands.flatMap(({ options }) => options).flatMap(({ word, choices }) => (choices.length > 0 ? [[word, choices]] : [])),
  )
  return `# Completion of treadle for bash: treadle completion bash >> ~/.bashrc
_treadle() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" words="" i next
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${path:+$path }\${COMP_WORDS[i]}"
    case "$next" in
      ${known.join('|')}) path="$next" ;;
    esac
  done
  case "$prev" in
${[...choices].map(([word, values]) => `    ${word}) COMPREPLY=($(compgen -W ${quoted(values.join(' '))} -- "$cur")); return ;;`).join('\n')}
    ${[...valued].filter((word) => !choices.has(word)).join('|')}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _treadle treadle
`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
