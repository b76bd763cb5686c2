import type { LogLineView, LogView } from '../../shared/views/job.ts'
import { count, iso, precise, visible } from '../format.ts'
import { Card } from './parts.tsx'

/** The newest lines that a job has logged and that its program has printed. */
export function LogCard({ log: { lines, total, isHidden } }: { readonly log: LogView }) {
  if (isHidden || lines.length === 0) return null
  const first = lines[0] as LogLineView
  return (
    <Card title={total === lines.length ? 'Log' : `Log: the newest ${count(lines.length)} of ${count(total)} lines`}>
      <ol class="log" tabIndex={0} start={first.line}>
        {lines.map((line, at) => (
          <Line key={line.line} line={line} before={lines[at - 1] ?? null} />
        ))}
      </ol>
    </Card>
  )
}

function Line({ line, before }: { readonly line: LogLineView; readonly before: LogLineView | null }) {
  const { at, attempt, level, message, fields } = line
  const missing = before === null ? 0 : line.line - before.line - 1
  return (
    <>
      {missing > 0 && <li class="muted">{count(missing)} lines were dropped</li>}
      <li class={`log-line log-${level}`} value={line.line}>
        <time dateTime={iso(at)} title={`${iso(at)}, attempt ${attempt}`}>
          {precise(at)}
        </time>{' '}
        <b>{level}</b> <span class="log-text">{visible(message)}</span>
        {fields !== null && <code> {visible(fields)}</code>}
      </li>
    </>
  )
}
