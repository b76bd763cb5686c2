import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { CalendarRow, CalendarView, RunView, ScheduleRow, ScheduleView } from '../../shared/view.ts'
import { address, base, to, withParameter } from '../address.ts'
import { change, may, now, read } from '../calls.ts'
import { Icon } from '../components/icons.tsx'
import { attempt } from '../components/messages.tsx'
import { Ago, Ahead, Card, Code, Empty, Instant, JobLink, Problem, State, Text, tick, Waiting } from '../components/parts.tsx'
import { newDraft, ScheduleForm } from '../components/schedule-form.tsx'
import { clock, date, day, dayStart, duration, visible } from '../format.ts'
import { useLive } from '../live.ts'
import type { PageProps } from '../main.tsx'
import { zone } from '../settings.ts'

const dayMs = 86_400_000

export function Schedules({ argument }: PageProps) {
  if (argument !== undefined) return <Detail name={argument} />
  const view = address.value.query.get('view') ?? 'list'
  if (view === 'new' && may())
    return (
      <>
        <header class="page-head">
          <h1>New schedule</h1>
        </header>
        <ScheduleForm first={newDraft()} isNew />
      </>
    )
  return (
    <>
      <header class="page-head">
        <h1>Schedules</h1>
        <span class="switch" role="group" aria-label="How they are shown">
          {['list', 'day', 'week'].map((each) => (
            <a
              key={each}
              href={base + withParameter('view', each === 'list' ? null : each)}
              aria-current={view === each ? 'true' : undefined}
            >
              {each}
            </a>
          ))}
        </span>
        {may() && (
          <span class="actions">
            <a class="button primary" href={`${to('schedules')}?view=new`}>
              <Icon name="clock" /> New schedule
            </a>
          </span>
        )}
      </header>
      {view === 'list' ? <List /> : <Calendar days={view === 'week' ? 7 : 1} />}
    </>
  )
}

function List() {
  const live = useLive<readonly ScheduleRow[]>('schedules')
  if (live.data === null) return <Waiting live={live} />
  return (
    <>
      <Problem problem={live.problem} />
      <Card>
        {live.data.length === 0 ? (
          <NoSchedule />
        ) : (
          <div class="scroll" tabIndex={0} role="region" aria-label="Schedules">
            <table>
              <thead>
                <tr>
                  <th>schedule</th>
                  <th>state</th>
                  <th class="grow">when</th>
                  <th>zone</th>
                  <th>last</th>
                  <th>next</th>
                  <th>
                    <span class="visually-hidden">actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {live.data.map((row) => (
                  <tr key={row.name} data-row>
                    <td class="main">
                      <a href={to('schedules', row.name)}>
                        <Text>{row.key ?? row.name}</Text>
                      </a>
                      {row.key !== null && <span class="badge">stored</span>}
                    </td>
                    <td>
                      <State state={row.state} />
                    </td>
                    <td class="grow">
                      <Text>{row.words ?? row.expression}</Text>
                    </td>
                    <td>{row.timezone}</td>
                    <td>
                      {row.last === null ? (
                        <span class="muted">–</span>
                      ) : (
                        <>
                          <Outcome run={row.last} /> <Ago at={row.last.at} />
                        </>
                      )}
                    </td>
                    <td>
                      <Ahead at={row.nextAt} />
                    </td>
                    <td class="end">{may() && <Actions row={row} />}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Card>
    </>
  )
}

function NoSchedule() {
  return (
    <Empty title="No schedule yet">
      <p>Give a job one, and a worker follows it:</p>
      <Code>{"jobs.define('digest', send).dailyAt('02:30').timezone('Europe/Paris')"}</Code>
      {may() && <p>Or store one in the queue, without a change of the code: New schedule, above.</p>}
    </Empty>
  )
}

function Outcome({ run: { outcome, startedAt } }: { readonly run: RunView }) {
  return <State state={outcome ?? (startedAt === null ? 'ready' : 'running')} />
}

function Actions({ row: { name, state, key } }: { readonly row: ScheduleRow }) {
  const path = `api/schedules/${encodeURIComponent(name)}`
  const isPaused = state === 'paused'
  return (
    <span class="actions">
      {state !== 'disabled' && state !== 'ended' && (
        <button
          type="button"
          data-key="p"
          onClick={() =>
            void attempt(
              () => change('POST', `${path}/${isPaused ? 'resume' : 'pause'}`),
              isPaused ? 'Resumed.' : 'Paused: no more runs until it is resumed.',
            )
          }
        >
          <Icon name={isPaused ? 'play' : 'pause'} /> {isPaused ? 'Resume' : 'Pause'}
          <span class="visually-hidden"> {visible(name)}</span>
        </button>
      )}
      {state !== 'not in code' && state !== 'rejected' && state !== 'unknown job' && (
        <button
          type="button"
          onClick={() =>
            void attempt(
              () => change<{ readonly id: string }>('POST', `${path}/trigger`),
              ({ id }) => (
                <>
                  Sent: <JobLink id={id} />
                </>
              ),
            )
          }
        >
          <Icon name="play" /> Run now<span class="visually-hidden"> {visible(name)}</span>
        </button>
      )}
      {key !== null && (
        <button
          type="button"
          onClick={() =>
            confirm(`Delete the schedule "${visible(key)}" with the record of its runs?`) &&
            void attempt(() => change('DELETE', path), 'Deleted.')
          }
        >
          <Icon name="cross" /> Delete<span class="visually-hidden"> {visible(key)}</span>
        </button>
      )}
    </span>
  )
}

function Detail({ name }: { readonly name: string }) {
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
          <Problem key={warning} problem={{ title: '', detail: warning }} />
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
                    <Ahead at={at} />
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
              <Instant at={run.at} />
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

function Calendar({ days }: { readonly days: number }) {
  void zone.value
  const asked = Number(address.value.query.get('at') ?? '')
  const from = dayStart(asked > 0 ? asked : now())
  // A day may have 23 or 25 hours.
  const until = dayStart(from + days * dayMs + dayMs / 2)
  const view = useSignal<CalendarView | null>(null)
  const problem = useSignal<string | null>(null)
  const turn = Math.floor(tick.value / 10)
  useEffect(() => {
    read<CalendarView>('calendar', { from: String(from), to: String(until) }).then(
      (answer) => {
        view.value = answer
      },
      (refused: Error) => {
        problem.value = refused.message
      },
    )
  }, [from, until, turn])
  const move = (by: number) => base + withParameter('at', String(dayStart(from + by * days * dayMs + dayMs / 2)))
  return (
    <Card
      title={days === 1 ? day(from) : `${day(from)} – ${day(until - 1)}`}
      actions={
        <span class="card-actions">
          <a class="button" href={move(-1)} aria-label="Earlier">
            ◀
          </a>
          <a class="button" href={base + withParameter('at', null)}>
            today
          </a>
          <a class="button" href={move(1)} aria-label="Later">
            ▶
          </a>
        </span>
      }
    >
      <Problem problem={problem.value === null ? null : { title: '', detail: problem.value }} />
      {view.value === null ? (
        <div class="loading" aria-busy="true" />
      ) : view.value.schedules.length === 0 ? (
        <NoSchedule />
      ) : (
        <CalendarGrid view={view.value} days={days} />
      )}
      <p class="footnote">
        <State state="succeeded" /> how a run ended <span class="run-mark future" aria-hidden="true" /> will run{' '}
        <span class="run-mark estimate" aria-hidden="true" /> an estimate <span class="run-band" aria-hidden="true" /> more often
        than every 15 min
      </p>
    </Card>
  )
}

function CalendarGrid({ view: { from, to: until, schedules }, days }: { readonly view: CalendarView; readonly days: number }) {
  const span = until - from
  const left = (at: number) => `${Math.min(100, Math.max(0, ((at - from) / span) * 100))}%`
  const marks =
    days === 1
      ? Array.from({ length: 12 }, (_, hour) => from + hour * 2 * 3_600_000)
      : Array.from({ length: days }, (_, each) => dayStart(from + each * dayMs + dayMs / 2))
  const at = now()
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Calendar">
      <div class="calendar">
        <div class="calendar-row calendar-head" aria-hidden="true">
          <span />
          <div class="calendar-line">
            {marks.map((mark) => (
              <span key={mark} class="calendar-hour" style={{ left: left(mark) }}>
                {days === 1 ? clock(mark, false).slice(0, 2) : day(mark)}
              </span>
            ))}
          </div>
        </div>
        {schedules.map((row) => (
          <div key={row.name} class="calendar-row">
            <a class="clip" href={to('schedules', row.name)}>
              <Text>{row.name}</Text>
            </a>
            <div class="calendar-line">
              {at > from && at < until && <span class="calendar-now" style={{ left: left(at) }} />}
              {row.state === 'paused' && <span class="calendar-note">paused</span>}
              {row.isDense ? <Band row={row} left={left} until={until} /> : <Marks row={row} left={left} />}
            </div>
          </div>
        ))}
      </div>
    </div>
  )
}

function Marks({
  row: { past, future, isEstimate },
  left,
}: {
  readonly row: CalendarRow
  readonly left: (at: number) => string
}) {
  return (
    <>
      {past.map(({ at, outcome, jobId, startedAt }) => {
        const state = outcome ?? (startedAt === null ? 'ready' : 'running')
        return (
          <a
            key={at}
            class={`run-mark state-${state}`}
            style={{ left: left(at) }}
            href={to('jobs', jobId)}
            title={`${date(at)}: ${state}`}
            aria-label={`${date(at)}: ${state}`}
          />
        )
      })}
      {future.map(({ at, note }) => (
        <span
          key={at}
          class={`run-mark ${isEstimate ? 'estimate' : 'future'}${note === null ? '' : ' noted'}`}
          style={{ left: left(at) }}
          title={`${date(at)}${note === null ? '' : `: ${note}`}`}
        />
      ))}
    </>
  )
}

/** For runs that are too frequent to be drawn one by one. */
function Band({
  row: { past, future },
  left,
  until,
}: {
  readonly row: CalendarRow
  readonly left: (at: number) => string
  readonly until: number
}) {
  const first = past.at(-1)?.at ?? future[0]?.at ?? 0
  const failed = past.filter(({ outcome }) => outcome === 'dead')
  const words = `${past.length} runs${failed.length > 0 ? `, ${failed.length} failed` : ''}, ${future.length} to come`
  return (
    <>
      <span
        class="run-band"
        style={{ left: left(first), right: `calc(100% - ${left(future.length === 0 ? (past[0]?.at ?? until) : until)})` }}
        title={words}
        role="img"
        aria-label={words}
      />
      {failed.map(({ at, jobId }) => (
        <a
          key={at}
          class="run-mark state-dead"
          style={{ left: left(at) }}
          href={to('jobs', jobId)}
          title={`${date(at)}: dead`}
          aria-label={`${date(at)}: dead`}
        />
      ))}
    </>
  )
}
