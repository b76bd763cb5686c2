import type { BulkAction } from '../../shared/views/bulk.ts'
import type { JobRow } from '../../shared/views/job.ts'
import { bulk } from '../components/bulk.tsx'
import { Icon } from '../components/icons.tsx'
import { exact } from '../format.ts'
import { isEnded } from '../job/ended.ts'

interface SelectionProps {
  readonly selected: ReadonlySet<string>
  readonly rows: readonly JobRow[]
  readonly filter: string
  readonly total: number | null
  readonly onDone: () => void
  readonly onClear: () => void
}

export function SelectionBar({ selected, rows, filter, total, onDone, onClear }: SelectionProps) {
  const chosen = rows.filter(({ id }) => selected.has(id))
  const all = filter.trim() !== ''
  const act = (action: BulkAction) => void bulk(action, { ids: chosen.map(({ id }) => id) }, onDone)
  const actAll = (action: BulkAction) => void bulk(action, { filter }, onDone)
  const has = chosen.length > 0
  if (!has && !(all && rows.length > 0)) return null
  const from = has ? chosen : rows
  const can = (action: BulkAction) =>
    from.some(({ state }) =>
      action === 'retry'
        ? isEnded(state)
        : action === 'cancel'
          ? !isEnded(state)
          : action === 'delete'
            ? state !== 'running'
            : state === 'scheduled' || state === 'ready',
    )
  const run = has ? act : actAll
  return (
    <div class="selection" role="toolbar" aria-label="What to do with jobs">
      <strong>{has ? `${exact(chosen.length)} selected` : matching(total)}</strong>
      {has && (
        <button type="button" class="plain" onClick={onClear}>
          clear
        </button>
      )}
      <button type="button" data-key="r" disabled={!can('retry')} onClick={() => run('retry')}>
        <Icon name="again" /> Retry
      </button>
      <button type="button" data-key="n" disabled={!can('run-now')} onClick={() => run('run-now')}>
        <Icon name="play" /> Run now
      </button>
      <button type="button" disabled={!can('reschedule')} onClick={() => run('reschedule')}>
        <Icon name="clock" /> Reschedule …
      </button>
      <button type="button" data-key="c" disabled={!can('cancel')} onClick={() => run('cancel')}>
        <Icon name="bar" /> Cancel
      </button>
      <button type="button" class="danger-text" disabled={!can('delete')} onClick={() => run('delete')}>
        <Icon name="trash" /> Delete …
      </button>
    </div>
  )
}

function matching(total: number | null): string {
  return total === null ? 'All that match' : total === 1 ? 'The one that matches' : `All ${exact(total)} that match`
}
