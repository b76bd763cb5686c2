import { useRef } from 'preact/hooks'
import type { JobRow } from '../../shared/view.ts'
import { to } from '../address.ts'
import { may, now } from '../calls.ts'
import { Ago, JobLink, State, stateOf, TagList, Text, tick } from '../components/parts.tsx'
import { duration } from '../format.ts'

/** Maximum number of tags in a row; the page of the job has all of them. */
const shownTags = 4

interface RowsProps {
  readonly rows: readonly JobRow[]
  readonly selected: ReadonlySet<string>
  readonly onSelect: (ids: ReadonlySet<string>) => void
}

export function Rows({ rows, selected, onSelect }: RowsProps) {
  void tick.value
  const last = useRef<string | null>(null)
  const toggle = (id: string, event: MouseEvent) => {
    const next = new Set(selected)
    const isOn = !next.has(id)
    const from = rows.findIndex((row) => row.id === last.current)
    const until = rows.findIndex((row) => row.id === id)
    const range =
      event.shiftKey && from >= 0 ? rows.slice(Math.min(from, until), Math.max(from, until) + 1).map((row) => row.id) : [id]
    for (const each of range) isOn ? next.add(each) : next.delete(each)
    last.current = id
    onSelect(next)
  }
  const areAll = rows.length > 0 && rows.every(({ id }) => selected.has(id))
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Jobs">
      <table class="jobs">
        <thead>
          <tr>
            {may() && (
              <th class="tick">
                <input
                  type="checkbox"
                  aria-label="Select all that are shown"
                  checked={areAll}
                  onChange={() => onSelect(areAll ? new Set() : new Set(rows.map(({ id }) => id)))}
                />
              </th>
            )}
            <th>state</th>
            <th>job</th>
            <th>queue</th>
            <th>created</th>
            <th>time in state</th>
            <th class="num">attempts</th>
            <th class="grow">last error</th>
            <th>id</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} data-row class={selected.has(row.id) ? 'selected' : undefined}>
              {may() && (
                <td class="tick">
                  <input
                    type="checkbox"
                    aria-label={`Select ${row.id}`}
                    checked={selected.has(row.id)}
                    onClick={(event) => toggle(row.id, event)}
                  />
                </td>
              )}
              <td>
                <State state={stateOf(row)} detail={row.state === 'dead' && row.reason !== 'exhausted' ? row.reason : null} />
              </td>
              <td class="main">
                <JobLink id={row.id}>
                  <Text>{row.job}</Text>
                </JobLink>
                {row.spoilt && <span class="badge bad">spoilt</span>}
                <TagList tags={row.tags} most={shownTags} />
              </td>
              <td>
                <a href={to('queues', row.queue)}>
                  <Text>{row.queue}</Text>
                </a>
              </td>
              <td>
                <Ago at={row.createdAt} />
              </td>
              <td>{timeInState(row)}</td>
              <td class="num">
                {row.attempts} of {row.maxRetries + 1}
              </td>
              <td class="grow clip">
                {row.lastError !== null && (
                  <a class="quiet" href={to('jobs', row.id)}>
                    <Text>{row.lastError}</Text>
                  </a>
                )}
              </td>
              <td>
                <JobLink id={row.id} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function timeInState({ state, createdAt, runAt, startedAt, finishedAt, progress }: JobRow): string {
  const at = now()
  if (state === 'running' && startedAt !== null)
    return `${duration(Math.max(0, at - startedAt))}${progress === null ? '' : ` · ${Math.round(progress * 100)} %`}`
  if (finishedAt !== null) return startedAt === null ? '–' : `took ${duration(Math.max(0, finishedAt - startedAt))}`
  if (state === 'scheduled') return runAt > at ? `due in ${duration(runAt - at)}` : 'due now'
  return duration(Math.max(0, at - Math.max(runAt, createdAt)))
}
