import type { JobLog } from '../../../app/handles/job-log.ts'
import type { LineLevel, LogLine } from '../../../envelope/log-lines.ts'
import type { Colours, Output } from '../output.ts'
import { plural, visible } from '../text.ts'

/** Maximum number of log lines shown below a job. */
const tailLines = 20

/** The end of a job's log. */
export function logTail(id: string, { lines, dropped }: JobLog, { colours }: Output): readonly string[] {
  if (lines.length === 0) return []
  const shown = lines.slice(-tailLines)
  const left = lines.length - shown.length + dropped
  const more = left === 0 ? '' : colours.dim(`, the last ${shown.length}; all that are kept: treadle logs ${id}`)
  return ['', `  ${plural(lines.length + dropped, 'log line')}${more}`, ...logLines(shown, colours).map((line) => `    ${line}`)]
}

/** Lines for people, with notes about missing ones between them. */
export function logLines(lines: readonly LogLine[], colours: Colours, after?: number): readonly string[] {
  let last = after ?? (lines[0]?.line ?? 1) - 1
  return lines.flatMap((line) => {
    const missing = line.line - last - 1
    last = line.line
    const gap = missing > 0 ? [colours.dim(`… ${plural(missing, 'line')} dropped`)] : []
    return [...gap, lineText(line, colours)]
  })
}

function lineText({ at, attempt, level, message, fields }: LogLine, colours: Colours): string {
  const time = at === 0 ? '' : `${new Date(at).toISOString().slice(0, 23).replace('T', ' ')}Z `
  const said = fields === undefined ? '' : ` ${colours.dim(visible(JSON.stringify(fields)))}`
  const text = visible(message).replaceAll('\n', '\n    ')
  return `${colours.dim(`${time}#${attempt}`)} ${levelColour(colours, level)(level.padEnd(longestLevel))} ${text}${said}`
}

const longestLevel = 'stderr'.length

function levelColour(colours: Colours, level: LineLevel): (text: string) => string {
  switch (level) {
    case 'error':
    case 'stderr':
      return colours.red
    case 'warn':
      return colours.yellow
    case 'debug':
      return colours.dim
    case 'info':
    case 'stdout':
      return (text) => text
  }
}

/** A line for programs, with ISO 8601 instants. */
export function lineJson({ at, ...line }: LogLine): object {
  return { ...line, at: new Date(at).toISOString() }
}
