import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { filterKeys, filterStates, parseFilter, quoted, type Term, writeFilter, writeTerm } from '../../shared/filter.ts'
import type { BulkAction, Counts, JobPage, JobRow, Searched } from '../../shared/view.ts'
import { address, base, go, to } from '../address.ts'
import { may, now, read } from '../calls.ts'
import { BulkProgress, bulk } from '../components/bulk.tsx'
import { Icon } from '../components/icons.tsx'
import {
  Ago,
  Card,
  Code,
  Empty,
  JobLink,
  Problem,
  SearchedTo,
  State,
  stateOf,
  TagList,
  Text,
  tick,
} from '../components/parts.tsx'
import { count, duration, exact } from '../format.ts'
import { useLive } from '../live.ts'

const tabs = ['ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped'] as const

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
      const page = await read<JobPage>('jobs', { q: filter, cursor })
      if (turn !== asked.current) return
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
    } catch (refused) {
      if (turn === asked.current) problem.value = (refused as Error).message
    }
    busy.value = false
  }
  useEffect(() => {
    loaded.value = null
    if (parseFilter(filter).problems === undefined) void load()
    else asked.current++
  }, [filter])
  return { loaded: loaded.value, problem: problem.value, busy: busy.value, load }
}

export function Jobs() {
  const filter = address.value.query.get('q') ?? ''
  const parsed = parseFilter(filter)
  const { loaded, problem, busy, load } = useJobs(filter)
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
      <h1>Jobs</h1>
      <FilterBar filter={filter} />
      <Tabs terms={parsed.terms ?? []} counts={counts} />
      <BulkProgress />
      {may() && (
        <SelectionBar
          selected={selected.value}
          rows={loaded?.rows ?? []}
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
          {loaded.rows.length === 0 ? (
            <NoJobs terms={parsed.terms ?? []} />
          ) : (
            <Rows
              rows={loaded.rows}
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
            onMore={() => void load(loaded.next ?? undefined)}
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

function FilterBar({ filter }: { readonly filter: string }) {
  const text = useSignal(filter)
  useEffect(() => {
    text.value = filter
  }, [filter])
  const parsed = parseFilter(text.value)
  const submit = (event: Event) => {
    event.preventDefault()
    go(`/jobs${text.value.trim() === '' ? '' : `?q=${encodeURIComponent(text.value.trim())}`}`)
  }
  const terms = parseFilter(filter).terms ?? []
  return (
    <form class="filter-bar" onSubmit={submit}>
      <div class="filter-field">
        <Icon name="search" />
        <input
          aria-label="Filter"
          aria-describedby="filter-help"
          aria-invalid={parsed.problems !== undefined}
          list="filter-words"
          autocomplete="off"
          spellcheck={false}
          value={text.value}
          placeholder="state:dead job:send-* since:24h error:&quot;refused&quot; payload.order:777"
          onInput={(event) => {
            text.value = event.currentTarget.value
          }}
        />
        <button type="submit">Filter</button>
      </div>
      <datalist id="filter-words">
        {filterStates.map((state) => (
          <option key={state} value={`state:${state}`} />
        ))}
        {filterKeys
          .filter((key) => !['text', 'state', 'payload'].includes(key))
          .map((key) => (
            <option key={key} value={`${key}:`} />
          ))}
      </datalist>
      <p
        id="filter-help"
        class={parsed.problems === undefined ? 'visually-hidden' : 'filter-problem'}
        role={parsed.problems === undefined ? undefined : 'alert'}
      >
        {parsed.problems === undefined
          ? 'Conditions with a colon, or words to search for'
          : parsed.problems.map(({ message }) => message).join(' · ')}
      </p>
      {terms.length > 0 && (
        <div class="chips">
          {terms.map((term, at) => (
            <span key={writeTerm(term)} class="chip">
              <Text>{writeTerm(term)}</Text>
              <button
                type="button"
                class="icon-button"
                aria-label={`Remove ${writeTerm(term)}`}
                onClick={() => go(`/jobs?q=${encodeURIComponent(writeFilter(terms.filter((_, index) => index !== at)))}`)}
              >
                <Icon name="cross" />
              </button>
            </span>
          ))}
          <a href={`${base}/jobs`}>clear</a>
        </div>
      )}
    </form>
  )
}

function Tabs({ terms, counts }: { readonly terms: readonly Term[]; readonly counts: Counts | null }) {
  const others = terms.filter(({ key }) => key !== 'state')
  const current = terms.find(({ key, negated }) => key === 'state' && !negated)?.values
  const link = (state: string | null) => {
    const said = writeFilter([...(state === null ? [] : [{ key: 'state', negated: false, values: [state] } as const]), ...others])
    return `${base}/jobs${said === '' ? '' : `?q=${encodeURIComponent(said)}`}`
  }
  return (
    <nav class="tabs" aria-label="States">
      <a href={link(null)} aria-current={current === undefined ? 'true' : undefined}>
        All
      </a>
      {tabs.map((state) => (
        <a key={state} href={link(state)} aria-current={current?.length === 1 && current[0] === state ? 'true' : undefined}>
          {state}{' '}
          {counts !== null && (
            <span class="tab-count" title={exact(counts[state])}>
              {count(counts[state])}
            </span>
          )}
        </a>
      ))}
    </nav>
  )
}

interface SelectionProps {
  readonly selected: ReadonlySet<string>
  readonly rows: readonly JobRow[]
  readonly filter: string
  readonly total: number | null
  readonly onDone: () => void
  readonly onClear: () => void
}

function SelectionBar({ selected, rows, filter, total, onDone, onClear }: SelectionProps) {
  const chosen = rows.filter(({ id }) => selected.has(id))
  const all = filter.trim() !== ''
  const act = (action: BulkAction) => void bulk(action, { ids: chosen.map(({ id }) => id) }, onDone)
  const actAll = (action: BulkAction) => void bulk(action, { filter }, onDone)
  const has = chosen.length > 0
  if (!has && !(all && rows.length > 0)) return null
  const ended = (state: string) => ['succeeded', 'dead', 'cancelled', 'skipped'].includes(state)
  const from = has ? chosen : rows
  const can = (action: BulkAction) =>
    from.some(({ state }) =>
      action === 'retry'
        ? ended(state)
        : action === 'cancel'
          ? !ended(state)
          : action === 'delete'
            ? state !== 'running'
            : state === 'scheduled' || state === 'ready',
    )
  const run = has ? act : actAll
  return (
    <div class="selection" role="toolbar" aria-label="What to do with jobs">
      <strong>
        {has ? `${exact(chosen.length)} selected` : `All ${total === null ? 'that match' : `${exact(total)} that match`}`}
      </strong>
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
            <th>made</th>
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
                <TagList tags={row.tags} />
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

function NoJobs({ terms }: { readonly terms: readonly Term[] }) {
  if (terms.length === 0)
    return (
      <Empty title="No jobs yet">
        <p>Send one:</p>
        <Code>npx treadle send hello '"Ada"'</Code>
      </Empty>
    )
  return (
    <Empty title="No job matches so far">
      <p>Take away a condition, or search on where that is offered below.</p>
      <p>
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
