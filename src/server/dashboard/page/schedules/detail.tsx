import type { RunView, ScheduleView } from '../../shared/views/schedule.ts'
import { address, to } from '../address.ts'
import { may } from '../calls.ts'
import { Icon } from '../components/icons.tsx'
import { Away, Card, Code, Empty, JobLink, Problem, State, Text, Waiting } from '../components/parts.tsx'
import { ScheduleForm } from '../components/schedule-form.tsx'
import { clock, day, duration, iso, visible } from '../format.ts'
import { useLive } from '../live.ts'
import { Actions, Outcome } from './schedule-parts.tsx'

export function Detail({ name }: { readonly name: string }) {
  const live = useLive<ScheduleView>(`schedule:${name}`)
  const { data } = live
  const isEditing = may() && data?.editRefusal === null && address.value.query.get('edit') === '1'
  if (data === null)
    return (
      <>
        <h1>
          Schedule <Text>{name}</Text>
        </h1>
        <Waiting live={live} />
      </>
    )
  return (
    <>
      <header class="page-head" data-current>
        <h1>
          Schedule <Text>{name}</Text>
        </h1>
        <State state={data.state} />
        {may() && <Actions row={data} />}
        {may() && data.draft !== null && <Edit view={data} />}
      </header>
      <Problem problem={live.problem} />
      {isEditing && data.draft !== null && <ScheduleForm key={name} first={data.draft} isNew={false} />}
      <Card title={<Text>{data.words ?? 'Its code is in another program'}</Text>}>
        <p class="muted">
          <code>{visible(data.expression)}</code> · {data.timezone}
          {data.isRepeat && ' · each run follows from the one before'}
          {data.key !== null && ` · stored in the queue, runs ${visible(data.job)}`}
        </p>
        {data.payload !== null && <Code>{data.payload}</Code>}
        {data.warnings.map((warning) => (
          <p key={warning} class="advice">
            <Icon name="warning" /> <Text>{warning}</Text>
          </p>
        ))}
      </Card>
      <div class="grid-2">
        <Card title="Last runs">
          {data.recent.length === 0 ? (
            <Empty title="It has not run yet" />
          ) : (
            <>
              <RunBars runs={data.recent} />
              <Runs runs={data.recent.slice(0, 15)} />
            </>
          )}
        </Card>
        <Card title="Next runs">
          {data.next.length === 0 ? (
            <Empty title={data.state === 'paused' ? 'It is paused' : 'None is known'} />
          ) : (
            <ul class="lines">
              {data.next.map(({ at, local, note }) => (
                <li key={at}>
                  <span>
                    {local}
                    {note !== null && <span class="badge">{note}</span>}
                  </span>
                  <span class="muted">
                    <Away at={at} />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </Card>
      </div>
    </>
  )
}

function Edit({ view: { name, editRefusal } }: { readonly view: ScheduleView }) {
  if (editRefusal !== null)
    return (
      <button type="button" disabled title={`${editRefusal}: change it from a program`}>
        <Icon name="clock" /> Change …
      </button>
    )
  return (
    <a class="button" href={`${to('schedules', name)}?edit=1`}>
      <Icon name="clock" /> Change …
    </a>
  )
}

/** The last sixty runs, oldest first: how long each took and how it ended. */
function RunBars({ runs }: { readonly runs: readonly RunView[] }) {
  const ordered = runs.toReversed()
  const took = ordered.map(({ startedAt, finishedAt }) =>
    startedAt === null || finishedAt === null ? 0 : finishedAt - startedAt,
  )
  const longest = Math.max(1, ...took)
  return (
    <svg
      class="run-bars"
      viewBox={`0 0 ${ordered.length * 8} 40`}
      height="40"
      width={ordered.length * 8}
      role="img"
      aria-label={`The last ${ordered.length} runs, the longest took ${duration(longest)}`}
    >
      {ordered.map(({ outcome, at }, index) => {
        const height = 6 + ((took[index] ?? 0) / longest) * 34
        return (
          <rect key={at} class={`state-${outcome ?? 'running'}`} x={index * 8} y={40 - height} width="6" height={height} rx="1" />
        )
      })}
    </svg>
  )
}

function Runs({ runs }: { readonly runs: readonly RunView[] }) {
  return (
    <ul class="lines">
      {runs.map((run) => (
        <li key={run.at}>
          <span>
            <Outcome run={run} />{' '}
            <JobLink id={run.jobId}>
              <time dateTime={iso(run.at)} title={iso(run.at)}>
                {day(run.at)}, {clock(run.at)}
              </time>
            </JobLink>
          </span>
          <span class="muted">
            {run.startedAt !== null && run.finishedAt !== null && duration(run.finishedAt - run.startedAt)}
          </span>
        </li>
      ))}
    </ul>
  )
}
