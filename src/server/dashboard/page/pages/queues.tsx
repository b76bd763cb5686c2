import { quoted } from '../../shared/filter.ts'
import type { QueueRow, QueueView } from '../../shared/views/queue.ts'
import { to, toJobs } from '../address.ts'
import { change, may } from '../calls.ts'
import { ThroughputChart } from '../components/chart.tsx'
import { Icon } from '../components/icons.tsx'
import { attempt } from '../components/messages.tsx'
import { Ago, Card, Code, Empty, Problem, State, Text, Waiting } from '../components/parts.tsx'
import { WorkerTable } from '../components/worker-table.tsx'
import { count, duration, perMinute, visible } from '../format.ts'
import { useLive } from '../live.ts'
import type { PageProps } from '../main.tsx'

export function Queues({ argument }: PageProps) {
  return argument === undefined ? <List /> : <Detail name={argument} />
}

function List() {
  const live = useLive<{ readonly queues: readonly QueueRow[]; readonly more: number }>('queues')
  if (live.data === null)
    return (
      <>
        <h1>Queues</h1>
        <Waiting live={live} />
      </>
    )
  const { queues, more } = live.data
  return (
    <>
      <h1>Queues</h1>
      <Problem problem={live.problem} />
      <Card>
        {queues.length === 0 ? (
          <Empty title="No queue yet">
            <p>A queue is there from its first job on.</p>
            <Code>{"jobs.define('send-email', send).queue('mail')"}</Code>
          </Empty>
        ) : (
          <div class="scroll" tabIndex={0} role="region" aria-label="Queues">
            <table class="stack">
              <thead>
                <tr>
                  <th>queue</th>
                  <th class="num">ready</th>
                  <th>oldest</th>
                  <th class="num">running</th>
                  <th class="num">scheduled</th>
                  <th class="num">blocked</th>
                  <th class="num">dead</th>
                  <th class="num">in</th>
                  <th class="num">out</th>
                  <th>empty in</th>
                  <th>limits</th>
                  <th>
                    <span class="visually-hidden">actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {queues.map((queue) => (
                  <Row key={queue.queue} queue={queue} />
                ))}
              </tbody>
            </table>
          </div>
        )}
        {more > 0 && <p class="footnote">{count(more)} quieter queues are not listed.</p>}
      </Card>
    </>
  )
}

function Row({ queue: row }: { readonly queue: QueueRow }) {
  const { queue, counts, oldestReadyAt, inRate, outRate, paused } = row
  const limits = limitsOf(row)
  // A narrow page leaves out the zeros.
  const number = (state: 'ready' | 'running' | 'scheduled' | 'blocked' | 'dead') => (
    <td class={`num${counts[state] === 0 ? ' none' : state === 'dead' ? ' bad' : ''}`} data-label={state}>
      {counts[state] === 0 ? (
        <span class="muted">0</span>
      ) : (
        <a href={toJobs(`state:${state} queue:${quoted(queue)}`)}>{count(counts[state])}</a>
      )}
    </td>
  )
  return (
    <tr data-row>
      <td class="main line">
        <a href={to('queues', queue)}>
          <Text>{queue}</Text>
        </a>{' '}
        {paused && <State state="paused" />}
      </td>
      {number('ready')}
      <td class={oldestReadyAt === null ? 'none' : ''} data-label="oldest">
        <Ago at={oldestReadyAt} />
      </td>
      {number('running')}
      {number('scheduled')}
      {number('blocked')}
      {number('dead')}
      <td class={`num${inRate === null ? ' none' : ''}`} data-label="in">
        {inRate === null ? '–' : perMinute(inRate)}
      </td>
      <td class={`num${outRate === null ? ' none' : ''}`} data-label="out">
        {outRate === null ? '–' : perMinute(outRate)}
      </td>
      <td class={`wrap${counts.ready === 0 ? ' none' : ''}`} data-label="empty in">
        {counts.ready === 0 ? <span class="muted">–</span> : <span>{emptyText(row)}</span>}
      </td>
      <td class={`wrap${limits.length === 0 ? ' none' : ''}`} data-label="limits">
        {limits.length === 0 ? <span class="muted">–</span> : limits.map((limit) => <div key={limit}>{limit}</div>)}
      </td>
      <td class="end compact">{may() && <PauseButton queue={queue} paused={paused} />}</td>
    </tr>
  )
}

function emptyText({ emptyInMs, growingBy, counts }: QueueRow): string {
  if (growingBy !== null) return `grows ${perMinute(growingBy)}`
  if (emptyInMs !== null) return duration(emptyInMs)
  return counts.ready === 0 ? 'empty' : '–'
}

function limitsOf({ concurrency, rate }: QueueRow): readonly string[] {
  return [...(concurrency === null ? [] : [`${concurrency} at once`]), ...(rate === null ? [] : [rate])]
}

function PauseButton({ queue, paused }: { readonly queue: string; readonly paused: boolean }) {
  const act = () =>
    attempt(
      () => change('POST', `api/queues/${encodeURIComponent(queue)}/${paused ? 'resume' : 'pause'}`),
      paused ? 'Resumed: workers claim its jobs again.' : 'Paused: running jobs continue, no more are claimed.',
    )
  return (
    <button type="button" data-key="p" title={paused ? 'Resume' : 'Pause'} onClick={() => void act()}>
      <Icon name={paused ? 'play' : 'pause'} /> <span class="action-word">{paused ? 'Resume' : 'Pause'}</span>
      <span class="visually-hidden"> {visible(queue)}</span>
    </button>
  )
}

/** Pauses all jobs with this key, whichever queue they are in. */
function PauseJobButton({ job, paused }: { readonly job: string; readonly paused: boolean }) {
  const act = () =>
    attempt(
      () => change('POST', `api/job-names/${encodeURIComponent(job)}/${paused ? 'resume' : 'pause'}`),
      paused ? 'Resumed: workers claim these jobs again.' : 'Paused in all queues: running jobs continue, no more are claimed.',
    )
  return (
    <button type="button" onClick={() => void act()}>
      <Icon name={paused ? 'play' : 'pause'} /> {paused ? 'Resume' : 'Pause'}
      <span class="visually-hidden"> jobs with the key {visible(job)}</span>
    </button>
  )
}

function Detail({ name }: { readonly name: string }) {
  const live = useLive<QueueView>(`queue:${name}`)
  const { data } = live
  if (data === null)
    return (
      <>
        <h1>
          Queue <Text>{name}</Text>
        </h1>
        <Waiting live={live} />
      </>
    )
  return (
    <>
      <header class="page-head" data-current>
        <h1>
          Queue <Text>{name}</Text>
        </h1>
        {data.paused && <State state="paused" />}
        {data.pausedHere !== null && (
          <span class="muted">
            paused here
            {data.pausedHere.user !== null && (
              <>
                {' '}
                by <Text>{data.pausedHere.user}</Text>
              </>
            )}
            , <Ago at={data.pausedHere.at} />
          </span>
        )}
        {may() && (
          <span class="actions">
            <PauseButton queue={name} paused={data.paused} />
          </span>
        )}
      </header>
      <Problem problem={live.problem} />
      <div class="tiles">
        {(['ready', 'running', 'scheduled', 'blocked', 'dead'] as const).map((state) => (
          <a key={state} class="tile" href={toJobs(`state:${state} queue:${quoted(name)}`)}>
            <span class="tile-label">{state}</span>
            <span class="tile-value">{count(data.counts[state])}</span>
          </a>
        ))}
        <div class="tile">
          <span class="tile-label">oldest ready</span>
          <span class="tile-value tile-words">
            <Ago at={data.oldestReadyAt} />
          </span>
        </div>
        <div class="tile">
          <span class="tile-label">time to empty</span>
          <span class="tile-value tile-words">{emptyText(data)}</span>
        </div>
        <div class="tile">
          <span class="tile-label">limits</span>
          <span class="tile-value tile-words">{limitsOf(data).join(', ') || 'none'}</span>
        </div>
      </div>
      <div class="grid-2">
        <Card title="Throughput, last hour">
          <ThroughputChart series={data.series} />
        </Card>
        <Card title="Jobs of this queue">
          <div class="scroll" tabIndex={0} role="region" aria-label="Jobs of this queue">
            <table class="stack">
              <thead>
                <tr>
                  <th>job</th>
                  <th class="num">ready</th>
                  <th>oldest</th>
                  <th class="num">running</th>
                  <th class="num">dead</th>
                  <th>
                    <span class="visually-hidden">actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.jobs.map(({ job, paused, counts, oldestReadyAt }) => (
                  <tr key={job} data-row>
                    <td class="main line">
                      <a href={toJobs(`queue:${quoted(name)} job:${quoted(job)}`)}>
                        <Text>{job}</Text>
                      </a>{' '}
                      {paused && <State state="paused" />}
                    </td>
                    <td class="num" data-label="ready">
                      {count(counts.ready)}
                    </td>
                    <td class={oldestReadyAt === null ? 'none' : ''} data-label="oldest">
                      <Ago at={oldestReadyAt} />
                    </td>
                    <td class="num" data-label="running">
                      {count(counts.running)}
                    </td>
                    <td class="num" data-label="dead">
                      {count(counts.dead)}
                    </td>
                    <td class="end">{may() && <PauseJobButton job={job} paused={paused} />}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {data.more > 0 && <p class="footnote">{count(data.more)} more are not listed.</p>}
        </Card>
        <Card title="Workers of this queue" wide>
          <WorkerTable workers={data.workers} />
        </Card>
      </div>
    </>
  )
}
