/** The last part of every help text. */
export function examples(...lines: readonly (readonly [command: string, what: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length))
  return ['', 'Examples:', ...lines.map(([command, what]) => `  $ treadle ${command.padEnd(width)}  ${what}`.trimEnd())].join(
    '\n',
  )
}
