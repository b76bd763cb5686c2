import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { CalendarRow, CalendarView } from '../../shared/views/schedule.ts'
import { address, base, to, withParameter } from '../address.ts'
import { now, read } from '../calls.ts'
import { Card, Problem, tick } from '../components/parts.tsx'
import { clock, date, day, dayStart } from '../format.ts'
import { zone } from '../settings.ts'
import { ScheduleName } from './schedule-name.tsx'
import { NoSchedule } from './schedule-parts.tsx'

const dayMs = 86_400_000

export function Calendar({ days }: { readonly days: number }) {
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
      <p class="footnote legend">
        <span>
          <span class="run-mark state-succeeded" aria-hidden="true" /> succeeded
        </span>
        <span>
          <span class="run-mark state-dead" aria-hidden="true" /> failed
        </span>
        <span>
          <span class="run-mark future" aria-hidden="true" /> will run
        </span>
        <span>
          <span class="run-mark estimate" aria-hidden="true" /> estimated
        </span>
        <span>
          <span class="run-band" aria-hidden="true" /> more often than every 15 minutes
        </span>
        <span>
          <span class="calendar-now" aria-hidden="true" /> now
        </span>
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
  const place = useRef<HTMLDivElement>(null)
  // On a narrow screen, begin with what is near.
  useEffect(() => {
    const scrolled = place.current
    if (scrolled !== null && at > from && at < until)
      scrolled.scrollLeft = ((at - from) / span) * scrolled.scrollWidth - scrolled.clientWidth / 2
  }, [from, until])
  return (
    <div ref={place} class="scroll" tabIndex={0} role="region" aria-label="Calendar">
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
              <ScheduleName name={row.name} />
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
