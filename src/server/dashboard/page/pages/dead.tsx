import { quoted } from '../../shared/filter.ts'
import type { DeadView, ErrorGroup } from '../../shared/views/dead.ts'
import { to, toJobs } from '../address.ts'
import { may } from '../calls.ts'
import { BulkProgress, bulk } from '../components/bulk.tsx'
import { Icon } from '../components/icons.tsx'
import { Ago, Card, Empty, Instant, JobLink, Problem, Spark, Text, Waiting } from '../components/parts.tsx'
import { type Counted, useCounting } from '../dead/counting.ts'
import { count, exact, share, visible } from '../format.ts'
import { useLive } from '../live.ts'
import type { PageProps } from '../main.tsx'

export function Dead({ argument }: PageProps) {
  const live = useLive<DeadView>('dead')
  const { counted, problem, start, stop, forget } = useCounting()
  if (live.data === null) return <Waiting live={live} />
  const groups = counted?.groups ?? live.data.groups
  const group = argument === undefined ? undefined : groups.find(({ key }) => key === argument)
  return (
    <>
      {group === undefined && <h1>Dead jobs, by error</h1>}
      <BulkProgress />
      <Problem problem={problem === null ? live.problem : { title: '', detail: problem }} />
      {group !== undefined ? (
        <Group group={group} total={live.data.total} onDone={forget} />
      ) : (
        <Card
          title={
            argument === undefined
              ? `${exact(live.data.total)} dead`
              : 'This group has no jobs any more, or they are further back'
          }
        >
          {groups.length === 0 && live.data.total === 0 ? (
            <Empty title="Nothing has failed for good">
              <p>A job that has used up its attempts is kept here with its errors, until it is retried or deleted.</p>
            </Empty>
          ) : (
            <Groups groups={groups} total={live.data.total} onDone={forget} />
          )}
          {counted === null ? (
            <Read view={live.data} onCount={() => void start()} />
          ) : (
            <Counting counted={counted} total={live.data.total} onStop={stop} onForget={forget} />
          )}
        </Card>
      )}
    </>
  )
}

/** Always says how much was read. */
function Read({ view: { read, total, isWhole }, onCount }: { readonly view: DeadView; readonly onCount: () => void }) {
  if (total === 0) return null
  return (
    <div class="searched">
      <span>
        {isWhole
          ? `All ${exact(total)} read`
          : `From ${exact(read)} of them, the newest of each name: the numbers of jobs are estimates, and a rare error may be missing`}
      </span>
      {!isWhole && (
        <button type="button" onClick={onCount}>
          Count all
        </button>
      )}
    </div>
  )
}

function Counting({
  counted: { searched, isOver },
  total,
  onStop,
  onForget,
}: {
  readonly counted: Counted
  readonly total: number
  readonly onStop: () => void
  readonly onForget: () => void
}) {
  return (
    <div class="searched" role="status">
      <span>
        {isOver ? 'Counted' : 'Counting:'} {exact(searched.jobs)} of {exact(Math.max(total, searched.jobs))}
        {searched.until !== null && (
          <>
            , back to <Instant at={searched.until} />
          </>
        )}
      </span>
      <button type="button" onClick={isOver ? onForget : onStop}>
        {isOver ? 'Back to live' : 'Stop'}
      </button>
    </div>
  )
}

function filterOf({ job }: ErrorGroup): string {
  return `state:dead job:${quoted(job)}`
}

function jobsOf({ jobs, isEstimate }: ErrorGroup): string {
  return isEstimate ? `about ${count(jobs)}` : exact(jobs)
}

/** The part of all dead jobs that has this error. */
function Share({ group: { jobs }, total }: { readonly group: ErrorGroup; readonly total: number }) {
  return total > jobs ? <span class="muted">{share(jobs / total)}</span> : null
}

function Groups({
  groups,
  total,
  onDone,
}: {
  readonly groups: readonly ErrorGroup[]
  readonly total: number
  readonly onDone: () => void
}) {
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
                {group.days !== null && <Spark values={group.days} label={`${group.days.join(', ')} in the last seven days`} />}
              </td>
              <td class="num" data-label="jobs">
                {jobsOf(group)} <Share group={group} total={total} />
              </td>
              <td data-label="first">
                <Ago at={group.firstAt} />
              </td>
              <td data-label="last">
                <Ago at={group.lastAt} />
              </td>
              <td class="end compact">{may() && <GroupActions group={group} onDone={onDone} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function GroupActions({ group, onDone }: { readonly group: ErrorGroup; readonly onDone: () => void }) {
  const chosen = { filter: filterOf(group), errorKey: group.key, count: group.jobs, isEstimate: group.isEstimate }
  return (
    <span class="actions">
      <button type="button" data-key="r" title="Retry …" onClick={() => void bulk('retry', chosen, onDone)}>
        <Icon name="again" /> <span class="action-word">Retry …</span>
        <span class="visually-hidden"> {visible(group.normal)}</span>
      </button>
      <button type="button" class="danger-text" title="Delete …" onClick={() => void bulk('delete', chosen, onDone)}>
        <Icon name="trash" /> <span class="action-word">Delete …</span>
        <span class="visually-hidden"> {visible(group.normal)}</span>
      </button>
    </span>
  )
}

function Group({ group, total, onDone }: { readonly group: ErrorGroup; readonly total: number; readonly onDone: () => void }) {
  return (
    <>
      <header class="page-head" data-current>
        <h1>
          <Text>{group.job}</Text>
        </h1>
        <span class="muted">
          {jobsOf(group)} dead <Share group={group} total={total} /> · <Text>{group.reasons.join(', ')}</Text> · last{' '}
          <Ago at={group.lastAt} />
        </span>
        {may() && <GroupActions group={group} onDone={onDone} />}
      </header>
      <Card title="Error">
        <p class="error-text">
          <Text>{group.message}</Text>
        </p>
        {group.code !== null && <span class="badge">{visible(group.code)}</span>}
        <p class="muted">
          {group.firstAt !== null && (
            <>
              First <Ago at={group.firstAt} />.{' '}
            </>
          )}
          Numbers, ids, addresses and quoted texts do not tell errors apart.
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
