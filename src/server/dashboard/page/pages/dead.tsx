import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { quoted } from '../../shared/filter.ts'
import type { DeadPage, ErrorGroup, Searched } from '../../shared/view.ts'
import { to, toJobs } from '../address.ts'
import { may, read } from '../calls.ts'
import { BulkProgress, bulk } from '../components/bulk.tsx'
import { Icon } from '../components/icons.tsx'
import { Ago, Card, Empty, JobLink, Problem, SearchedTo, Spark, Text } from '../components/parts.tsx'
import { count, exact, visible } from '../format.ts'
import type { PageProps } from '../main.tsx'

interface Loaded {
  readonly groups: readonly ErrorGroup[]
  readonly total: number
  readonly next: string | null
  readonly searched: Searched
  /** How many pages of the list it merges. */
  readonly pages: number
}

export function Dead({ argument }: PageProps) {
  const loaded = useSignal<Loaded | null>(null)
  const problem = useSignal<string | null>(null)
  const busy = useSignal(false)
  const load = async (cursor?: string) => {
    busy.value = cursor !== undefined
    try {
      const page = await read<DeadPage>('dead', { cursor })
      problem.value = null
      const before = cursor === undefined ? null : loaded.value
      loaded.value = {
        groups: merged(before?.groups ?? [], page.groups),
        total: page.total,
        next: page.next,
        pages: (before?.pages ?? 0) + 1,
        searched: {
          jobs: (before?.searched.jobs ?? 0) + page.searched.jobs,
          until: page.searched.until ?? before?.searched.until ?? null,
        },
      }
    } catch (refused) {
      problem.value = (refused as Error).message
    }
    busy.value = false
  }
  useEffect(() => {
    void load()
    const timer = setInterval(() => {
      // What was searched by hand is left as it is.
      if (!document.hidden && (loaded.value?.pages ?? 1) === 1 && !busy.value) void load()
    }, 5_000)
    return () => clearInterval(timer)
  }, [])
  const group = argument === undefined ? undefined : loaded.value?.groups.find(({ key }) => key === argument)
  return (
    <>
      {group === undefined && <h1>Dead jobs, by error</h1>}
      <BulkProgress />
      <Problem problem={problem.value === null ? null : { title: '', detail: problem.value }} />
      {loaded.value === null ? (
        <div class="loading" aria-busy="true" />
      ) : group !== undefined ? (
        <Group group={group} onDone={() => void load()} />
      ) : (
        <Card
          title={
            argument === undefined
              ? `${exact(loaded.value.total)} dead`
              : 'This group has no jobs any more, or they are further back'
          }
        >
          {loaded.value.groups.length === 0 ? (
            <Empty title="Nothing has failed for good" />
          ) : (
            <Groups groups={loaded.value.groups} onDone={() => void load()} />
          )}
          <SearchedTo
            searched={loaded.value.searched}
            next={loaded.value.next}
            busy={busy.value}
            onMore={() => void load(loaded.value?.next ?? undefined)}
          />
        </Card>
      )}
    </>
  )
}

function merged(before: readonly ErrorGroup[], after: readonly ErrorGroup[]): readonly ErrorGroup[] {
  const groups = new Map(before.map((group) => [group.key, group]))
  for (const group of after) {
    const known = groups.get(group.key)
    groups.set(
      group.key,
      known === undefined
        ? group
        : {
            ...known,
            jobs: known.jobs + group.jobs,
            firstAt: Math.min(known.firstAt, group.firstAt),
            lastAt: Math.max(known.lastAt, group.lastAt),
            days: known.days.map((value, at) => value + (group.days[at] ?? 0)),
          },
    )
  }
  return [...groups.values()].toSorted((a, b) => b.lastAt - a.lastAt)
}

function filterOf({ job }: ErrorGroup): string {
  return `state:dead job:${quoted(job)}`
}

function Groups({ groups, onDone }: { readonly groups: readonly ErrorGroup[]; readonly onDone: () => void }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Errors">
      <table class="stack">
        <thead>
          <tr>
            <th class="grow">error</th>
            <th>job</th>
            <th>queue</th>
            <th>reason</th>
            <th>7 days</th>
            <th class="num">jobs</th>
            <th>first</th>
            <th>last</th>
            <th>
              <span class="visually-hidden">actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={group.key} data-row>
              <td class="grow main">
                <a class="clip-2" href={to('dead', group.key)}>
                  <Text>{group.normal}</Text>
                </a>
                {group.code !== null && <span class="badge">{visible(group.code)}</span>}
              </td>
              <td data-label="job">
                <a href={toJobs(filterOf(group))}>
                  <Text>{group.job}</Text>
                </a>
              </td>
              <td data-label="queue">
                <Text>{group.queues.join(', ')}</Text>
              </td>
              <td data-label="reason">
                <Text>{group.reasons.join(', ')}</Text>
              </td>
              <td data-label="7 days">
                <Spark values={group.days} label={`${group.days.join(', ')} in the last seven days`} />
              </td>
              <td class="num" data-label="jobs">
                {count(group.jobs)}
              </td>
              <td data-label="first">
                <Ago at={group.firstAt} />
              </td>
              <td data-label="last">
                <Ago at={group.lastAt} />
              </td>
              <td class="end">{may() && <GroupActions group={group} onDone={onDone} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function GroupActions({ group, onDone }: { readonly group: ErrorGroup; readonly onDone: () => void }) {
  const chosen = { filter: filterOf(group), errorKey: group.key, count: group.jobs }
  return (
    <span class="actions">
      <button type="button" data-key="r" onClick={() => void bulk('retry', chosen, onDone)}>
        <Icon name="again" /> Retry …<span class="visually-hidden"> {visible(group.normal)}</span>
      </button>
      <button type="button" class="danger-text" onClick={() => void bulk('delete', chosen, onDone)}>
        <Icon name="trash" /> Delete …<span class="visually-hidden"> {visible(group.normal)}</span>
      </button>
    </span>
  )
}

function Group({ group, onDone }: { readonly group: ErrorGroup; readonly onDone: () => void }) {
  return (
    <>
      <header class="page-head" data-current>
        <h1>
          <Text>{group.job}</Text>
        </h1>
        <span class="muted">
          {exact(group.jobs)} dead · <Text>{group.reasons.join(', ')}</Text> · last <Ago at={group.lastAt} />
        </span>
        {may() && <GroupActions group={group} onDone={onDone} />}
      </header>
      <Card title="Error">
        <p class="error-text">
          <Text>{group.message}</Text>
        </p>
        {group.code !== null && <span class="badge">{visible(group.code)}</span>}
        <p class="muted">
          First <Ago at={group.firstAt} />. Numbers, ids, addresses and quoted texts do not tell errors apart.
        </p>
        {group.sampleStack !== null && (
          <pre class="code" tabIndex={0}>
            {visible(group.sampleStack)}
          </pre>
        )}
        <p>
          The newest: <JobLink id={group.sampleId} /> · <a href={toJobs(filterOf(group))}>all dead jobs of this name</a>
        </p>
      </Card>
    </>
  )
}
