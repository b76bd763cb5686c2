import type { Completed, CompletedCommand } from './completed-command.ts'

/** For zsh: the same, with a description next to each word. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(({ path, commands: inner, options }) => {
    const entries = [...inner, ...options].map((each) => `      ${entry(each)}`).join('\n')
    return `    ${quoted(path)})\n      entries=(\n${entries}\n      ) ;;`
  })
  const known = commands.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  return `#compdef treadle
# Completion of treadle for zsh: treadle completion zsh > ~/.zfunc/_treadle
_treadle() {
  local word_path="" next i
  local -a entries
  for ((i = 2; i < CURRENT; i++)); do
    next="\${word_path:+$word_path }\${words[i]}"
    case "$next" in
      ${known.join('|')}) word_path="$next" ;;
    esac
  done
  case "$word_path" in
${cases.join('\n')}
  esac
  _describe 'treadle' entries
  _files
}
compdef _treadle treadle
`
}

function entry({ word, help }: Completed): string {
  return quoted(`${word.replaceAll(':', String.raw`\:`)}:${help}`)
}

function quoted(text: string): string {
  return `'${text.replaceAll('\n', ' ').replaceAll("'", String.raw`'\''`)}'`
}
