import type { ComponentChildren } from 'preact'
import type { JobRow } from '../../shared/views/job.ts'
import { to } from '../address.ts'
import { now } from '../calls.ts'
import { Menu } from '../components/menu.tsx'
import { Ago, Instant, JobLink, TagList, Text } from '../components/parts.tsx'
import { duration } from '../format.ts'
import { keptList } from '../kept-list.ts'

/** A column of a list of jobs, beside their states and names. */
interface Column {
  readonly label: string
  readonly kind: string
  readonly cell: (row: JobRow) => ComponentChildren
}

const columns = {
  queue: {
    label: 'queue',
    kind: 'col-queue',
    cell: ({ queue }) => (
      <a href={to('queues', queue)}>
        <Text>{queue}</Text>
      </a>
    ),
  },
  group: { label: 'group', kind: '', cell: ({ group }) => group !== null && <Text>{group}</Text> },
  tags: { label: 'tags', kind: 'wrap', cell: ({ tags }) => <TagList tags={tags} /> },
  priority: { label: 'priority', kind: 'num', cell: ({ priority }) => priority },
  created: { label: 'created', kind: 'col-created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  due: { label: 'due', kind: '', cell: ({ runAt }) => <Instant at={runAt} /> },
  ended: { label: 'ended', kind: '', cell: ({ finishedAt }) => <Ago at={finishedAt} /> },
  time: { label: 'time in state', kind: 'col-time', cell: timeInState },
  attempts: {
    label: 'attempts',
    kind: 'col-attempts num',
    cell: ({ attempts, maxRetries }) => `${attempts} of ${maxRetries + 1}`,
  },
  worker: { label: 'worker', kind: '', cell: ({ owner }) => owner !== null && <Text>{owner}</Text> },
  error: {
    label: 'last error',
    kind: 'col-error grow clip',
    cell: ({ id, lastError }) =>
      lastError !== null && (
        <a class="quiet" href={to('jobs', id)}>
          <Text>{lastError}</Text>
        </a>
      ),
  },
  id: { label: 'id', kind: 'col-id', cell: ({ id }) => <JobLink id={id} /> },
} satisfies Readonly<Record<string, Column>>

export type ColumnName = keyof typeof columns

const all = Object.keys(columns) as readonly ColumnName[]
const usual: readonly ColumnName[] = ['queue', 'created', 'time', 'attempts', 'error', 'id']
const chosen = keptList('columns', (name) => all.find((each) => each === name) ?? null)

export function shownColumns(): readonly (Column & { readonly name: ColumnName })[] {
  const names = chosen.list.value ?? usual
  return all.filter((name) => names.includes(name)).map((name) => ({ name, ...columns[name] }))
}

/** Whether the viewer has chosen the columns, so that none of them is left out for lack of room. */
export function areColumnsChosen(): boolean {
  return chosen.list.value !== null
}

export function ColumnMenu() {
  const names = chosen.list.value ?? usual
  const toggle = (name: ColumnName) => {
    chosen.keep(names.includes(name) ? names.filter((each) => each !== name) : [...names, name])
  }
  return (
    <Menu label="Columns" icon="columns">
      <fieldset class="choices">
        <legend class="visually-hidden">Columns</legend>
        {all.map((name) => (
          <label key={name} class="check">
            <input type="checkbox" checked={names.includes(name)} onChange={() => toggle(name)} /> {columns[name].label}
          </label>
        ))}
      </fieldset>
      {areColumnsChosen() && (
        <button type="button" class="plain" onClick={() => chosen.keep(null)}>
          The usual ones
        </button>
      )}
    </Menu>
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
