import { useRef } from 'preact/hooks'
import { may } from '../calls.ts'
import { JobLink, State, stateOf, TagList, Text, tick } from '../components/parts.tsx'
import { areColumnsChosen, shownColumns } from './columns.tsx'
import type { ListedJob } from './live-rows.ts'

/** Maximum number of tags in a row; the page of the job has all of them. */
const shownTags = 4

interface RowsProps {
  readonly rows: readonly ListedJob[]
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
  const columns = shownColumns()
  const areAll = rows.length > 0 && rows.every(({ id }) => selected.has(id))
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Jobs">
      <table class={areColumnsChosen() ? 'jobs chosen' : 'jobs'}>
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
            {columns.map(({ name, label, kind }) => (
              <th key={name} class={kind}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} data-row class={selected.has(row.id) ? 'selected' : row.gone !== null ? 'silent' : undefined}>
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
                {row.gone === 'deleted' && <span class="badge">deleted</span>}
                {row.spoilt && <span class="badge bad">spoilt</span>}
                <TagList tags={row.tags} most={shownTags} />
              </td>
              {columns.map(({ name, kind, cell }) => (
                <td key={name} class={kind} data-label={name}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
