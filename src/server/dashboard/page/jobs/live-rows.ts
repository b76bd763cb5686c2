import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Term } from '../../shared/filter.ts'
import type { JobRow } from '../../shared/views/job.ts'
import { type LiveRows, mostLiveRows } from '../../shared/views/live-rows.ts'
import { stateOf } from '../components/parts.tsx'
import { isEnded } from '../job/ended.ts'
import { useLive } from '../live.ts'

export interface ListedJob extends JobRow {
  /** Why it would not be in the list if that were loaded now. */
  readonly gone: 'left' | 'deleted' | null
}

/** The rows of a list as they are now, in the places where they were loaded. Those that have not ended are watched. */
export function useLiveRows(rows: readonly JobRow[], terms: readonly Term[]): readonly ListedJob[] {
  const known = useSignal<LiveRows>({})
  const watched = useRef<readonly string[]>([])
  const current = (row: JobRow) => (Object.hasOwn(known.value, row.id) ? (known.value[row.id] as JobRow | null) : row)
  const waiting = rows.flatMap((row) => (isEnded(current(row)?.state ?? 'cancelled') ? [] : [row.id])).slice(0, mostLiveRows)
  // The stream is opened anew only if there are other jobs to watch, or far fewer.
  if (waiting.length * 2 <= watched.current.length || waiting.some((id) => !watched.current.includes(id)))
    watched.current = waiting
  const { data } = useLive<LiveRows>(watched.current.length === 0 ? null : `rows:${watched.current.join(',')}`)
  useEffect(() => {
    if (data !== null) known.value = { ...known.peek(), ...data }
  }, [data])
  useEffect(() => {
    known.value = {}
  }, [rows[0]?.id])
  return rows.map((row) => {
    const now = current(row)
    return { ...(now ?? row), gone: now === null ? 'deleted' : hasLeft(now, terms) ? 'left' : null }
  })
}

function hasLeft(row: JobRow, terms: readonly Term[]): boolean {
  return terms.some(
    ({ key, values, negated }) => key === 'state' && (values.includes(row.state) || values.includes(stateOf(row))) === negated,
  )
}
