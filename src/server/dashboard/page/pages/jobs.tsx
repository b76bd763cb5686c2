import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { parseFilter, quoted, type Term, writeFilter, writeTerm } from '../../shared/filter.ts'
import type { Counts, JobPage, JobRow, Searched } from '../../shared/views/job.ts'
import { address, base } from '../address.ts'
import { may, read } from '../calls.ts'
import { BulkProgress } from '../components/bulk.tsx'
import { Card, Code, Empty, Problem, SearchedTo, Text } from '../components/parts.tsx'
import { exact } from '../format.ts'
import { ColumnMenu } from '../jobs/columns.tsx'
import { ExportMenu } from '../jobs/export-menu.tsx'
import { FilterBar, Tabs } from '../jobs/filter-bar.tsx'
import { useLiveRows } from '../jobs/live-rows.ts'
import { Rows } from '../jobs/rows.tsx'
import { SavedFilters } from '../jobs/saved-filters.tsx'
import { SelectionBar } from '../jobs/selection-bar.tsx'
import { useLive } from '../live.ts'

interface Loaded {
  readonly rows: readonly JobRow[]
  readonly next: string | null
  readonly searched: Searched
  readonly total: number | null
}

/** The jobs that match a filter, loaded page by page. */
function useJobs(filter: string) {
  const loaded = useSignal<Loaded | null>(null)
  const problem = useSignal<string | null>(null)
  const busy = useSignal(false)
  const asked = useRef(0)
  const load = async (cursor?: string) => {
    const turn = ++asked.current
    busy.value = true
    problem.value = null
    try {
      const begunAt = performance.now()
      const page = await read<JobPage>('jobs', { q: filter, cursor })
      if (turn !== asked.current) return
      add(page, cursor)
      // Who asks to search further gets a job, the end, or stops it. Half of the time is left to others.
      if (cursor !== undefined && page.jobs.length === 0 && page.next !== null) {
        const { next } = page
        setTimeout(() => turn === asked.current && void load(next), performance.now() - begunAt)
        return
      }
    } catch (refused) {
      if (turn === asked.current) problem.value = (refused as Error).message
    }
    if (turn === asked.current) busy.value = false
  }
  const stop = () => {
    asked.current++
    busy.value = false
  }
  const add = (page: JobPage, cursor: string | undefined) => {
    const before = cursor === undefined ? null : loaded.value
    const known = new Set(before?.rows.map(({ id }) => id))
    loaded.value = {
      rows: [...(before?.rows ?? []), ...page.jobs.filter(({ id }) => !known.has(id))],
      next: page.next,
      searched: {
        jobs: (before?.searched.jobs ?? 0) + page.searched.jobs,
        until: page.searched.until ?? before?.searched.until ?? null,
      },
      total: page.total,
    }
  }
  useEffect(() => {
    loaded.value = null
    if (parseFilter(filter).problems === undefined) void load()
    return stop
  }, [filter])
  return { loaded: loaded.value, problem: problem.value, busy: busy.value, load, stop }
}

export function Jobs() {
  const filter = address.value.query.get('q') ?? ''
  const parsed = parseFilter(filter)
  const { loaded, problem, busy, load, stop } = useJobs(filter)
  const rows = useLiveRows(loaded?.rows ?? [], parsed.terms ?? [])
  const selected = useSignal<ReadonlySet<string>>(new Set())
  const { data: counts } = useLive<Counts>('counts')
  useEffect(() => {
    selected.value = new Set()
  }, [filter])
  const reload = () => {
    selected.value = new Set()
    void load()
  }
  return (
    <>
      <header class="page-head">
        <h1>Jobs</h1>
        <div class="actions">
          <SavedFilters filter={filter} />
          <ColumnMenu />
          {parsed.problems === undefined && <ExportMenu filter={filter} />}
        </div>
      </header>
      <FilterBar filter={filter} />
      <Tabs terms={parsed.terms ?? []} counts={counts} />
      <BulkProgress />
      {may() && (
        <SelectionBar
          selected={selected.value}
          rows={rows}
          filter={filter}
          total={loaded?.total ?? null}
          onDone={reload}
          onClear={() => {
            selected.value = new Set()
          }}
        />
      )}
      <Problem problem={problem === null ? null : { title: '', detail: problem }} />
      {loaded !== null && (
        <Card>
          <Newer counts={counts} terms={parsed.terms ?? []} total={loaded.total} onLoad={reload} />
          {rows.length === 0 ? (
            <NoJobs terms={parsed.terms ?? []} isOver={loaded.next === null} />
          ) : (
            <Rows
              rows={rows}
              selected={selected.value}
              onSelect={(ids) => {
                selected.value = ids
              }}
            />
          )}
          <SearchedTo
            searched={loaded.searched}
            next={loaded.next}
            busy={busy}
            more={loaded.searched.jobs <= loaded.rows.length ? 'Show more' : 'Search further'}
            onMore={() => void load(loaded.next ?? undefined)}
            onStop={stop}
          />
        </Card>
      )}
      {loaded === null && problem === null && parsed.problems === undefined && <div class="loading" aria-busy="true" />}
    </>
  )
}

/** New jobs wait behind a button, so that rows do not jump under the pointer. */
function Newer({
  counts,
  terms,
  total,
  onLoad,
}: {
  readonly counts: Counts | null
  readonly terms: readonly Term[]
  readonly total: number | null
  readonly onLoad: () => void
}) {
  const [only] = terms
  const isState = terms.length === 1 && only?.key === 'state' && only.values.length === 1 && !only.negated
  const isAll = terms.length === 0
  if (counts === null || total === null || !(isState || isAll)) return null
  const current = isAll
    ? Object.values(counts).reduce((sum, value) => sum + value, 0)
    : (counts[only?.values[0] as keyof Counts] ?? total)
  if (current <= total) return null
  return (
    <button type="button" class="pill" onClick={onLoad}>
      {exact(current - total)} new
    </button>
  )
}

function NoJobs({ terms, isOver }: { readonly terms: readonly Term[]; readonly isOver: boolean }) {
  if (terms.length === 0)
    return (
      <Empty title="No jobs yet">
        <p>Send one:</p>
        <Code>npx treadle send hello '"Ada"'</Code>
      </Empty>
    )
  return (
    <Empty title={isOver ? 'No job matches' : 'No job matches so far'}>
      <p>{isOver ? 'Remove a condition:' : 'Remove a condition, or search further back below.'}</p>
      <p class="chips centred">
        {terms.map((term, at) => (
          <a
            key={at}
            class="chip"
            href={`${base}/jobs?q=${encodeURIComponent(writeFilter(terms.filter((_, index) => index !== at)))}`}
          >
            without <Text>{writeTerm(term)}</Text>
          </a>
        ))}
      </p>
      {terms.some(({ key }) => key === 'text') && (
        <p class="muted">
          Words are looked for in names, groups, payloads and the last error. An id is found by its beginning:{' '}
          <code>id:{quoted('0192f3a1')}</code>
        </p>
      )}
    </Empty>
  )
}
